"""Starts Lean under limits: `--command` by exec, or `--library`'s lean_main in this process.

lean.run starts it as a script, without site packages. The exit status is Lean's. Lean's output is flushed
before `_exit`; without the flush the last messages were lost, and false proofs seemed to pass.
"""

import argparse
import ctypes
import os
import resource
import shlex
import signal

PR_SET_PDEATHSIG = 1  # Lean ends with the scorer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--command", help="words as a shell would split them")
    which.add_argument("--library", help="a libleanshared.so with lean_main")
    parser.add_argument("--cpu-seconds", type=int, required=True)
    parser.add_argument("--file-bytes", type=int, required=True)
    parser.add_argument("--address-bytes", type=int, default=0, help="0: no limit")
    parser.add_argument("lean", nargs=argparse.REMAINDER, help="-- and Lean's own arguments")
    args = parser.parse_args()

    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_CPU, args.cpu_seconds)
    limit(resource.RLIMIT_FSIZE, args.file_bytes)
    # the scorer's own soft limit (mlrb_kit.guarded) is for its model: Lean reserves more than it uses
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
    if args.address_bytes:
        limit(resource.RLIMIT_AS, args.address_bytes)
    lean = args.lean[1:] if args.lean[:1] == ["--"] else args.lean
    if args.command is not None:
        words = [*shlex.split(args.command), *lean]
        os.execvp(words[0], words)
    status = call_lean_main(args.library, lean)
    libc.fflush(None)
    os._exit(status & 0xFF)


def limit(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    least = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (least, least))


def call_lean_main(library: str, arguments: list[str]) -> int:
    """Calls `int lean_main(int argc, char **argv)`; its sibling libraries must be loaded first."""
    folder = os.path.dirname(library)  # noqa: PTH120 (pathlib would double the start time)
    for name in ("libInit_shared.so", "libleanshared_2.so", "libleanshared_1.so"):
        if os.path.exists(f"{folder}/{name}"):  # noqa: PTH110
            ctypes.CDLL(f"{folder}/{name}", mode=ctypes.RTLD_GLOBAL)
    words = [b"lean", *map(os.fsencode, arguments)]
    argv = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    return ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL).lean_main(len(words), argv)


if __name__ == "__main__":
    main()
