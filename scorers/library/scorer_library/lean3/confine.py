"""Starts a program that may read and write only the named places, by Linux's Landlock.

Lean 3 can run code of the text that it checks. The text's words are searched for such code first; if some is
missed, it finds no references, writes no score, starts no program and opens no connection. The launcher
(lean/launch.py) starts this script, without site packages, and this script becomes the program.
"""

import argparse
import ctypes
import os
import struct
import sys

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the numbers of every architecture
PR_SET_NO_NEW_PRIVS = 38
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
# the rights that each version of Landlock added, so that all that the kernel knows are handled
FS_RIGHTS = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF}
NET_RIGHTS = 0b11  # bind and connect, TCP
SCOPES = 0b11  # abstract unix sockets, signals to other processes
VERSION_OF_SCOPES = 6  # Linux 6.12
VERSION_MIN = 1  # Linux 5.13; truncating a file is restricted from version 3 on, Linux 6.2
FAILED = 126


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--read", action="append", default=[], metavar="PATH")
    parser.add_argument("--write", action="append", default=[], metavar="PATH")
    parser.add_argument("--execute", action="append", default=[], metavar="FILE")
    parser.add_argument("program", nargs=argparse.REMAINDER, help="-- and the program with its arguments")
    args = parser.parse_args()
    words = args.program[1:] if args.program[:1] == ["--"] else args.program
    try:
        confine(args.read, args.write, args.execute)
        os.execv(words[0], words)
    except OSError as error:
        print(f"cannot confine {words[0]}: {error}", file=sys.stderr)
        raise SystemExit(FAILED) from error


def landlock_version() -> int:
    """0 where the kernel or a container's filter of system calls has no Landlock."""
    version = ctypes.CDLL(None).syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    return max(0, version)


def confine(reads: list[str], writes: list[str], executes: list[str]) -> None:
    """Restricts this process and its children. Raises OSError. Paths that do not exist are left out."""
    libc = ctypes.CDLL(None, use_errno=True)
    version = landlock_version()
    if version < VERSION_MIN:
        raise OSError("this kernel or container has no Landlock")
    every = FS_RIGHTS[min(version, max(FS_RIGHTS))]
    fields = [every, NET_RIGHTS if version >= 4 else 0, SCOPES if version >= VERSION_OF_SCOPES else 0]
    attributes = struct.pack("<3Q", *fields)[: 8 if version < 4 else 16 if version < 6 else 24]
    ruleset = checked(libc.syscall(CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0))
    read = READ_FILE | READ_DIR
    for paths, rights in ((reads, read), (writes, every & ~EXECUTE), (executes, EXECUTE | READ_FILE)):
        for path in paths:
            if os.path.exists(path):  # noqa: PTH110 (pathlib would double the start time)
                allow(libc, ruleset, path, rights)
    checked(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    checked(libc.syscall(RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    if not os.path.isdir(path):  # noqa: PTH112
        rights &= EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
    rule = struct.pack("<Qi", rights, place)
    checked(libc.syscall(ADD_RULE, ruleset, 1, rule, 0))
    os.close(place)


def checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"Landlock: {os.strerror(code)}")
    return result


if __name__ == "__main__":
    main()
