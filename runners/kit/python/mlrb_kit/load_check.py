"""Loads a submission in a child process under limits that the kernel holds, before any scorer opens it.

A few hundred bytes of settings can make a loader take all memory or run for hours. A load that exceeds its
limits is the fault of the submission only where a known-good model loads on this machine under the same
limits.
"""

import contextlib
import ctypes
import json
import math
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from errno import EDQUOT, EIO, EMFILE, ENFILE, ENOSPC
from pathlib import Path
from typing import Any

from mlrb_kit.admitted import Undecided
from mlrb_kit.end_with_parent import end_with_parent
from mlrb_kit.rejected import Rejected

MIB, GIB = 2**20, 2**30
MEMORY_SLACK = 2 * GIB  # for the libraries and for a model's masks and tables
SLOWER_MAX = 20  # times the control's time per byte
CONTROL_BYTES_MAX = 64 * MIB
SECONDS_MIN = 20  # of computing: small models spend their time on fixed costs
BYTES_PER_SECOND = 20 * MIB  # far below what any honest model needs
FULL = (ENOSPC, EDQUOT, EIO, EMFILE, ENFILE)
TEXT = "The ferry left the harbour at seven, and nobody waved.\n" + "".join(map(chr, range(32, 127)))

# of PR_SET_PDEATHSIG: the child ends with this process


class OverLimit(Exception):
    """Raised by a load for what a scorer would not notice before it is too late."""


@dataclass(frozen=True)
class Tried:
    """How a load ended: loaded, refused as by a scorer, undecided, over-limit, memory, time, killed, died or
    machine."""

    end: str
    seconds: float  # of computing
    detail: str = ""


Load = Callable[[Path], Any]
# writes a known-good model of about this many bytes into a folder
WriteControl = Callable[[Path, int], None]


def check_load(folder: Path, load: Load, write_control: WriteControl, memory_max: float = math.inf) -> None:
    """Raises Rejected if the submission exceeds the limits and the control does not.

    `load` loads a submission and uses its tokenizer. Raises RuntimeError where the machine is at fault: the
    control fails too, the child was killed from outside, or less memory is free than the limit allows.
    `memory_max`: bytes that a load may take here, if that is less than the limit.
    """
    try:
        size = weight_bytes(folder)
    except Rejected:
        return  # the scorers say what is missing
    limit = 2 * size + MEMORY_SLACK
    memory = int(min(limit, memory_max))
    seconds = max(SECONDS_MIN, size // BYTES_PER_SECOND)
    require_room(memory)
    first = tried(folder, load, memory, seconds)
    if first.end in ("loaded", "refused"):
        return
    if first.end == "over-limit":
        raise Rejected(first.detail)
    if first.end == "undecided":
        raise Undecided(first.detail)
    if first.end == "memory" and memory < limit:
        raise RuntimeError(
            f"needs more than {memory / GIB:.1f} GiB of memory to load, which is all that it may take here; "
            f"a load of this size may take {limit / GIB:.1f} GiB"
        )
    with tempfile.TemporaryDirectory(prefix="mlrb-control-") as place:
        control_folder = Path(place, "model")
        write_control(control_folder, min(size, CONTROL_BYTES_MAX))
        control_size = weight_bytes(control_folder)
        control = tried(control_folder, load, 2 * control_size + MEMORY_SLACK, seconds)
    if control.end != "loaded":
        raise RuntimeError(f"a known-good model does not load here either: {control.detail or control.end}")
    allowed = max(seconds, SLOWER_MAX * control.seconds * max(1.0, size / control_size))
    second = tried(folder, load, memory, allowed)
    if second.end in ("loaded", "refused"):
        return
    if second.end == "time":
        raise Rejected(
            f"needs more than {allowed:.0f} s of computing to load, twice; "
            f"a known-good model of {control_size / MIB:.0f} MiB needs {control.seconds:.2f} s"
        )
    free = free_bytes()
    if second.end == "killed" or free < memory:
        raise RuntimeError(
            "loading was ended from outside, or this machine has too little memory: "
            f"{free / GIB:.1f} GiB are free; loading {size / GIB:.1f} GiB may take {memory / GIB:.1f} GiB"
        )
    if second.end == "memory":
        raise Rejected(
            f"needs more than {memory / GIB:.1f} GiB of memory to load (2 x its weights + 2 GiB); "
            "a known-good model loads within its limit"
        )
    raise Rejected(f"loading it ends the program, twice: {second.detail}")


def require_room(memory: int) -> None:
    """Raises RuntimeError where this process may not take so much: by the operator's limit or the walls'."""
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    needed = memory + held_bytes()
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise RuntimeError(
            f"loading may take {needed / GIB:.1f} GiB, and this stage may take {hard / GIB:.1f} GiB; "
            "raise its limits.memory"
        )


def weight_bytes(folder: Path) -> int:
    from mlrb_kit.stored import weight_files  # late: scorers of texts may run without safetensors

    return sum(path.stat().st_size for path in weight_files(folder))


def tried(folder: Path, load: Load, memory: float, seconds: float) -> Tried:
    """Loads in a forked child. `memory`: bytes that it may take besides what this process already holds."""
    sys.stdout.flush()
    sys.stderr.flush()
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receive)
        run_child(folder, load, memory + held_bytes(), seconds, send)
    os.close(send)
    with os.fdopen(receive, "rb") as answer:
        said = answer.read(4096)
    _, status, usage = os.wait4(child, 0)
    spent = usage.ru_utime + usage.ru_stime
    return end_of(status, said, spent)


def end_of(status: int, said: bytes, spent: float) -> Tried:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        name = signal.Signals(number).name
        if number == signal.SIGXCPU:
            return Tried("time", spent, name)
        # C++ and Rust abort where their limit of memory is reached
        endings = {signal.SIGABRT: "memory", signal.SIGKILL: "killed"}
        return Tried(endings.get(signal.Signals(number), "died"), spent, name)
    try:
        answer = json.loads(said)
        return Tried(answer["end"], spent, answer.get("detail", ""))
    except (ValueError, KeyError, TypeError):
        return Tried("died", spent, f"exit status {os.waitstatus_to_exitcode(status)}")


def return_freed_memory() -> None:
    """Freed blocks over 32 MiB are unmapped, as by default: a process with a limit has no room for gaps.

    The process that scores are forked from keeps them (fork_server.py).
    """
    with contextlib.suppress(OSError, AttributeError):  # another library than glibc
        ctypes.CDLL(None).mallopt(-3, 2**25)  # M_MMAP_THRESHOLD


def run_child(folder: Path, load: Load, memory: float, seconds: float, send: int) -> None:
    """Never returns."""
    answer = {"end": "died"}
    try:
        end_with_parent()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory < math.inf:
            hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
            soft = int(memory) if hard == resource.RLIM_INFINITY else min(int(memory), hard)
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
        if seconds < math.inf:
            cpu = int(seconds) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (cpu, resource.getrlimit(resource.RLIMIT_CPU)[1]))
            signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        load(folder)
        answer = {"end": "loaded"}
    except BaseException as error:
        answer = answer_of(error)
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
            os.write(send, json.dumps(answer).encode())
        finally:
            os._exit(0)


def answer_of(error: BaseException) -> dict[str, str]:
    words = f"{type(error).__name__}: {' '.join(str(error).split())}"[:200]
    full = isinstance(error, OSError) and error.errno in FULL
    if isinstance(error, OverLimit):
        return {"end": "over-limit", "detail": str(error)[:1000]}
    if isinstance(error, Undecided):
        return {"end": "undecided", "detail": error.reasons[:1000]}
    if isinstance(error, Rejected):
        return {"end": "refused", "detail": words}  # the scorers say why
    if full or isinstance(error, (KeyboardInterrupt, SystemExit)) or getattr(error, "of_machine", False):
        return {"end": "machine", "detail": str(error)[:3000]}
    traceback.print_exc()
    memory = isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "memory" in str(error))
    return {"end": "memory" if memory else "died", "detail": words}


def held_bytes() -> int:
    """What RLIMIT_DATA already counts for this process: its private writable memory."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    return 0


def free_bytes() -> int:
    """What this machine can still give."""
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0
