"""Runs a script in the forked child, as closely as possible to `python script`, and exits the
same way.

Exits by os._exit: an orderly shutdown of a warm interpreter would copy and free all shared
memory.
"""

# ruff: noqa: PTH100, PTH118, PTH120, PTH123

import atexit
import ctypes
import gc
import importlib
import os
import signal
import sys
import tempfile
import threading
import traceback
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import Any, NoReturn

import walls
from fork_places import Place, point
from kernel_calls import confine

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "python-guard"))
import stage_guard

del sys.path[-1]

PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Warm:
    """The facts that the child needs about the process that it was forked from."""

    parent: int
    control: list[int]  # descriptors that the job must not use
    home: str  # the warm process's HOME, which no job has
    places: list[Place]  # the places that hold a path below `home`
    preloaded: frozenset[str]
    kept: dict[str, ModuleType]  # modules that must not be freed with the script's


def run_job(job: dict[str, Any], warm: Warm) -> NoReturn:
    try:
        prepare(job, warm)
    except BaseException:
        os.write(2, f"mlrb: {traceback.format_exc()}".encode())
        os._exit(125)
    script, *arguments = job["argv"][1:]
    sys.argv = [script, *arguments]
    sys.orig_argv = list(job["argv"])
    sys.path.insert(0, os.path.dirname(os.path.realpath(script)))
    finish(run_script(script), warm)


def run_program(job: dict[str, Any], parent: int, control: list[int]) -> NoReturn:
    """Executes the program of a job with walls, as walls.py does when it starts afresh."""
    try:
        detach(job, parent, control)
    except BaseException as error:
        walls.end_unbuilt(error)
    walls.execute(job["argv"])


def prepare(job: dict[str, Any], warm: Warm) -> None:
    detach(job, warm.parent, warm.control)
    if not job.get("walls", {}).get("view"):
        confine(job.get("readOnly"), job.get("offline", False))
    point(warm.places, warm.home, job["env"]["HOME"])
    tempfile.tempdir = None
    importlib.invalidate_caches()
    # each process needs its own seed; Python's own generator reseeds itself
    if numpy_random := sys.modules.get("numpy.random"):
        numpy_random.seed()
    if torch := sys.modules.get("torch"):
        torch.default_generator.seed()
    if permissions := job["env"].get("MLRB_PERMISSIONS"):
        stage_guard.hold_or_end(permissions)  # last: the steps above are not the script's


def detach(job: dict[str, Any], parent: int, control: list[int]) -> None:
    """Gives this child its own session, output, signals and variables, and enters its walls."""
    os.setsid()
    die_with_parent(signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)  # the parent died before PR_SET_PDEATHSIG was set
    log = os.open(job["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.dup2(log, 1)
    os.dup2(log, 2)
    signal.set_wakeup_fd(-1)
    for descriptor in (log, *control):
        os.close(descriptor)
    reset_signals()
    mark_environment(os.fsencode(f"MLRB_TOKEN={job['env']['MLRB_TOKEN']}"))
    os.environ.clear()
    os.environ.update(job["env"])
    if job.get("walls"):
        walls.enter(job["walls"])


def die_with_parent(number: int) -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number, 0, 0, 0)


def reset_signals() -> None:
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    # as an interpreter does at its start
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def mark_environment(token: bytes) -> None:
    """Writes the token into the environment that /proc shows, so that the runner can find the
    job's child processes.

    /proc shows the memory of the process's start, even after its variables changed. The warm
    process was started with a variable of this name that is long enough.
    """
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    start, end = int(fields[47]), int(fields[48])
    shown = ctypes.string_at(start, end - start) if start else b""
    at = 0 if shown.startswith(b"MLRB_TOKEN=") else shown.find(b"\0MLRB_TOKEN=") + 1
    room = shown.find(b"\0", at) - at
    if shown[at:].startswith(b"MLRB_TOKEN=") and len(token) <= room:
        ctypes.memmove(start + at, token.ljust(room, b"\0"), room)


def run_script(script: str) -> int:
    """Runs the script as `__main__` and returns the exit status. Prints the interpreter's messages."""
    main = ModuleType("__main__")
    main.__dict__.update(
        __file__=script,
        __builtins__=sys.modules["builtins"],
        __loader__=SourceFileLoader("__main__", script),
        __cached__=None,
        __annotations__={},
    )
    sys.modules["__main__"] = main
    try:
        with open(script, "rb") as file:
            source = file.read()
    except OSError as error:
        reason = f"[Errno {error.errno}] {error.strerror}"
        print(f"{sys.executable}: can't open file {os.path.abspath(script)!r}: {reason}", file=sys.stderr)
        return 2
    try:
        exec(compile(source, script, "exec", dont_inherit=True), main.__dict__)
    except SystemExit as end:
        return exit_status(end.code)
    except BaseException as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        if isinstance(error, KeyboardInterrupt):
            flush()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
        return 1
    return 0


def exit_status(code: Any) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF if -(2**63) <= code < 2**63 else 0xFF
    print(code, file=sys.stderr)
    return 1


def finish(status: int, warm: Warm) -> NoReturn:
    try:
        threading._shutdown()  # waits for non-daemon threads
        atexit._run_exitfuncs()
        flush()
        # frees the objects of the script's modules: a file that the script left open is written out
        names = vars(sys.modules["__main__"])
        for name in list(names):
            if name != "__builtins__":
                names[name] = None
        for name in set(sys.modules) - warm.preloaded - {"__main__"}:
            del sys.modules[name]
        gc.collect()
        if not flush():
            status = 120
    finally:
        ctypes.CDLL(None).fflush(None)  # flushes the buffers of C libraries
        os._exit(status)


def flush() -> bool:
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:
                stream.flush()
    except (OSError, ValueError):
        return False
    return True
