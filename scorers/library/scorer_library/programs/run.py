"""Runs a submitted program once, where it sees its own files and the test images and writes one folder.

Landlock (lean3/confine.py) refuses the labels and everything else of the attempt, other programs and TCP
connections. The limits on time, memory and disk hold for the program with all its descendants: this process
adopts those that leave their parent, and ends them all before a byte of the output is read.
"""

import contextlib
import ctypes
import glob
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from mlrb_kit.rejected import Rejected
from scorer_library.lean import launch
from scorer_library.lean3 import confine
from scorer_library.programs.predictions import FILE

LAUNCHER, CONFINER = Path(launch.__file__), Path(confine.__file__)
MAIN = "main.py"
POLL_SECONDS = 0.02
DISK_POLL_SECONDS = 0.5
END_SECONDS_MAX = 30.0
PR_SET_CHILD_SUBREAPER = 36
SHOWN_BYTES = 300  # of the end of what the program printed
PRINTED_BYTES_MAX = 2**24
ENTRIES_MAX = 10_000  # of its working folder
LEVELS_MAX = 32
# what Python and torch read to start; nothing of an attempt or of the private data
SYSTEM = (
    *("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/proc/self", "/proc/cpuinfo", "/proc/meminfo"),
    *("/proc/driver/nvidia", "/sys/devices/system", "/sys/fs/cgroup", "/dev/urandom"),
)
LOADERS = ("/lib64/ld-linux*", "/lib/ld-linux*", "/lib/*-linux-gnu/ld-linux*", "/lib/ld-musl*")
WRITTEN = (
    "/dev/null",
    "/dev/shm",
    *(f"/dev/nvidia{one}" for one in ("ctl", "-uvm", "-uvm-tools", *range(16))),
)
FIELD = re.compile(rb"^(\w+):\s+(\d+) kB$", re.MULTILINE)
PASSED_ON = ("PATH", "LANG", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES")


@dataclass(frozen=True)
class ProgramLimits:
    seconds: float
    memory_bytes: int  # resident, of all its processes
    disk_bytes: int  # of its working folder


@dataclass(frozen=True)
class ProgramRun:
    ended: str  # "exit", "time", "memory" or "disk"
    status: int  # exit status, or minus the signal
    seconds: float  # from start to end, with the imports and the loading of the model
    peak_bytes: int  # resident
    printed: str  # the end of its output, for the reason of a rejection


def require_confinement() -> None:
    """Raises RuntimeError where submitted programs cannot be confined: not the submission's fault."""
    if confine.landlock_version() < confine.VERSION_OF_SCOPES:
        raise RuntimeError(
            "submitted programs are confined by Landlock's version 6, which this kernel or container does"
            " not offer, and with an older one a program could stop the clock; use Linux 6.12 or later, and "
            "Docker 23 or later for containers"
        )


def run_program(program: Path, data: Path, work: Path, limits: ProgramLimits) -> ProgramRun:
    """Runs `main.py --data_dir DATA` in `work`, an empty folder, where links show the program's files."""
    require_confinement()
    show_files(program, work, leave_out=FILE)
    env = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    own = {"HOME": str(work), "TMPDIR": str(work), "PYTHONDONTWRITEBYTECODE": "1"}
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    printed = work.with_suffix(".out")  # next to the folder that it may write
    with printed.open("wb") as output:
        started = time.monotonic()
        process = subprocess.Popen(
            command(program, data, work, limits),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=work,
            env={**env, **own},
            start_new_session=True,
        )
        try:
            ended, seconds, peak = watch(process, work, limits, started)
        finally:
            outlived = end_descendants(process)
    if outlived:
        seconds = time.monotonic() - started
    if ended == "exit" and is_over(work, limits.disk_bytes):
        ended = "disk"
    return ProgramRun(ended, process.returncode, seconds, peak, tail(printed))


def show_files(program: Path, work: Path, leave_out: str | None = None) -> None:
    """Links to the program's files. Folders are real, so that it can write new files into them.

    `leave_out`: its output of an earlier run, at the top. The link would keep the program from writing it.
    """
    for entry in sorted(program.iterdir()):
        if entry.is_dir():
            (work / entry.name).mkdir()
            show_files(entry, work / entry.name)
        elif entry.name != leave_out:
            (work / entry.name).symlink_to(entry)


def command(program: Path, data: Path, work: Path, limits: ProgramLimits) -> list[str]:
    python = os.path.realpath(sys.executable)
    reads = [*SYSTEM, sys.prefix, sys.base_prefix, str(program), str(data)]
    executes = [python, *(path for pattern in LOADERS for path in glob.glob(pattern))]  # noqa: PTH207
    places = [
        *(f"--read={path}" for path in reads),
        *(f"--write={path}" for path in (str(work), *WRITTEN)),
        *(f"--execute={path}" for path in executes),
    ]
    isolated = [sys.executable, "-I", "-S"]
    main = [sys.executable, "-E", "-s", str(work / MAIN), "--data_dir", str(data)]
    cpu = int(limits.seconds * (os.cpu_count() or 1)) + 10
    rules = [f"--cpu-seconds={cpu}", f"--file-bytes={max(limits.disk_bytes, PRINTED_BYTES_MAX)}"]
    confined = shlex.join([*isolated, str(CONFINER), *places, "--", *main])
    return [*isolated, str(LAUNCHER), *rules, "--command", confined]


def watch(
    process: "subprocess.Popen[bytes]", work: Path, limits: ProgramLimits, started: float
) -> tuple[str, float, int]:
    """Waits for the program's end or for a limit: how it ended, its seconds and its peak bytes."""
    peak, measured = 0, started
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        now = time.monotonic()
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return "exit", now - started, max(peak, counted_peak(usage)) or usage.ru_maxrss * 1024
        peak = max(peak, resident_bytes(descendants()))
        if now - started > limits.seconds:
            return "time", now - started, peak
        if peak > limits.memory_bytes:
            return "memory", now - started, peak
        if now - measured > DISK_POLL_SECONDS:
            measured = now
            if is_over(work, limits.disk_bytes):
                return "disk", now - started, peak
        time.sleep(POLL_SECONDS)


def counted_peak(usage: resource.struct_rusage) -> int:
    """The kernel's peak of a child in bytes; 0 where it may be this process's own, which a child inherits."""
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return usage.ru_maxrss * 1024 if usage.ru_maxrss > own else 0


def end_descendants(process: "subprocess.Popen[bytes]") -> bool:
    """Kills what is left until nothing is; returns whether anything was. Orphans become ours: none can leave.

    Raises Rejected where new ones start faster than they end; then the walls' end is theirs.
    """
    deadline = time.monotonic() + END_SECONDS_MAX
    outlived = False
    while left := descendants():
        outlived = True
        if time.monotonic() > deadline:
            raise Rejected(f"the program still starts processes {END_SECONDS_MAX:g} s after its end")
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == process.pid:
                    process.returncode = os.waitstatus_to_exitcode(ended[1])
        time.sleep(POLL_SECONDS)
    return outlived


def descendants() -> list[int]:
    """Of this process, which starts nothing but the program. Those that end are left out by and by."""
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                fields = Path(entry.path, "stat").read_text(errors="replace").rpartition(")")[2].split()
                children.setdefault(int(fields[1]), []).append(int(entry.name))
    found, queue = [], [os.getpid()]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += below
    return found


def resident_bytes(pids: list[int]) -> int:
    """Pages in the processes' maps, and files in memory that they hold open, mapped or not."""
    own, mapped = 0, 0
    held: dict[tuple[int, int], int] = {}
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError, KeyError):  # it ended
            # the program chose its name, which is in the file: only its ends of lines are escaped
            fields = dict(FIELD.findall(Path(f"/proc/{pid}/status").read_bytes()))
            shared = int(fields[b"RssShmem"]) * 1024
            own += int(fields[b"VmRSS"]) * 1024 - shared
            mapped += shared
            held |= memory_files(pid)
    return own + max(mapped, sum(held.values()))


def memory_files(pid: int) -> dict[tuple[int, int], int]:
    """Bytes by device and inode."""
    found = {}
    for entry in os.scandir(f"/proc/{pid}/fd"):
        with contextlib.suppress(OSError):
            file = Path(entry.path)
            if str(file.readlink()).startswith(("/memfd:", "/dev/shm/")):
                status = file.stat()
                found[status.st_dev, status.st_ino] = status.st_blocks * 512
    return found


def is_over(folder: Path, most: int) -> bool:
    """Whether the folder holds more bytes, entries or levels than honest programs write, or hides some."""
    total, entries, queue = 0, 0, [(str(folder), 0)]
    while queue:
        place, depth = queue.pop()
        try:
            with os.scandir(place) as inside:
                for entry in inside:
                    entries += 1
                    if entries > ENTRIES_MAX or depth >= LEVELS_MAX:
                        return True
                    with contextlib.suppress(OSError):
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        queue.append((entry.path, depth + 1))
        except FileNotFoundError:
            continue  # it was removed meanwhile
        except OSError:
            return True
    return total > most


def tail(printed: Path) -> str:
    with printed.open("rb") as file:
        file.seek(max(0, printed.stat().st_size - SHOWN_BYTES))
        return " ".join(file.read().decode("utf-8", errors="replace").split())
