"""Starts the stages' processes for the runner, from a process that stays small.

The cost of a start grows with the parent's memory: 1 ms at 50 MB, 17 ms at 350 MB. The
runner's memory grows with the plan, so the runner asks this process over a pipe: one JSON line
per job, one per answer.

This process is also the reaper of its jobs' leftovers. A program that changes its session,
cleans its environment and outlives its parent becomes a child of this process, and ends with
its job. When the runner dies, the pipe closes and every job is killed: no process would keep
the outputs.
"""

# importing pathlib would take longer than starting
# ruff: noqa: PTH112, PTH118, PTH120, PTH123, PTH208

import contextlib
import ctypes
import errno
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator

PR_SET_CHILD_SUBREAPER = 36

Job = dict  # the request: id, argv, env, log, walls


Begin = Callable[[Job, list[int]], int]

# a short job's start and end are one answer; the runner needs the pid of a longer job to end it
PID_SECONDS = 0.02


def main() -> None:
    serve(begin, 0, 1)


def serve(begin: Begin, requests: int, answers: int) -> None:
    """Answers requests until their pipe closes.

    `begin` starts one job and returns its pid. A process that `begin` forks must close the
    descriptors passed to it.
    """
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_read, False)
    os.set_blocking(wake_write, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    # the runner handles a Ctrl-C in the terminal
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    complete = len(os.listdir("/proc/self/task")) == 1  # the kernel lists children by thread
    send([{"ready": True}], answers)

    jobs: dict[int, int] = {}  # pid -> id
    unsaid: dict[int, float] = {}  # pid -> when the runner must know it
    orphans: dict[int, set[int]] = {}  # pid -> pids of the jobs that may have left it
    poll = select.poll()
    poll.register(requests, select.POLLIN | select.POLLHUP)
    poll.register(wake_read, select.POLLIN)
    pending = b""
    while True:
        said = []
        for descriptor, flags in poll.poll(PID_SECONDS * 1000 if unsaid else None):
            if descriptor == requests and flags & select.POLLHUP:
                # the runner is dead: its remaining requests are not needed
                end_all(jobs)
                return
            if descriptor == wake_read:
                with contextlib.suppress(BlockingIOError):
                    while os.read(wake_read, 4096):
                        pass
                for pid, end in reap(jobs, orphans):
                    if unsaid.pop(pid, None) is not None:
                        end["pid"] = pid
                    if end.pop("alone") and complete:
                        end["alone"] = True
                    said.append(end)
                continue
            chunk = os.read(requests, 1 << 16)
            if not chunk:
                end_all(jobs)
                return
            *lines, pending = (pending + chunk).split(b"\n")
            for line in lines:
                job = json.loads(line)
                try:
                    pid = begin(job, [requests, answers, wake_read, wake_write])
                except (OSError, ValueError) as error:
                    code = errno.errorcode.get(getattr(error, "errno", None) or 0, "")
                    why = f"{code}: {error}" if code else str(error)
                    said.append({"id": job["id"], "failed": why})
                else:
                    jobs[pid] = job["id"]
                    unsaid[pid] = time.monotonic() + PID_SECONDS
        now = time.monotonic()
        for pid in [pid for pid, due in unsaid.items() if due <= now]:
            del unsaid[pid]
            said.append({"id": jobs[pid], "pid": pid})
        send(said, answers)


def send(said: list[dict], answers: int) -> None:
    data = b"".join(json.dumps(one).encode() + b"\n" for one in said)
    while data:
        try:
            data = data[os.write(answers, data) :]
        except BrokenPipeError:
            return  # the runner is gone; the other pipe reports that too


def begin(job: Job, control: list[int]) -> int:
    """Starts one job in its own session and appends its output to its log."""
    if "walls" in job:
        return begin_walled(job, [descriptor for descriptor in control if descriptor > 1])
    return os.posix_spawn(
        found(job["argv"][0], job["env"].get("PATH", "")),
        [os.fsencode(part) for part in job["argv"]],
        {os.fsencode(name): os.fsencode(value) for name, value in job["env"].items()},
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, job["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
        setsigmask=[],
        # Python ignores some signals, and children inherit ignored signals
        setsigdef=[signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGHUP],
    )


def begin_walled(job: Job, control: list[int]) -> int:
    """Builds the walls in a forked child: a Python that starts afresh would take three times as long."""
    here = os.path.dirname(os.path.realpath(__file__))
    sys.path.append(here)  # with -I, Python looks for no modules here
    import fork_job  # late: most runs of the program start nothing

    sys.path.remove(here)
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        fork_job.run_program(job, parent, control)
    return pid


def found(program: str, path: str) -> str:
    if "/" in program:
        return program
    for folder in path.split(os.pathsep):
        candidate = os.path.join(folder or ".", program)
        if os.access(candidate, os.X_OK) and not os.path.isdir(candidate):
            return candidate
    raise FileNotFoundError(errno.ENOENT, f"there is no program {program} on the PATH")


def reap(jobs: dict[int, int], orphans: dict[int, set[int]]) -> Iterator[tuple[int, dict]]:
    """The pids and results of the jobs that have ended.

    `alone`: no process is left that the job started. The children of a process that ended became this
    process's children before it could be waited for; so if every child leads another job, no
    descendant of this one lives.
    """
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        job = jobs.get(pid)
        orphans.pop(pid, None)
        if job is None:
            continue
        alone = end_orphans(pid, jobs, orphans)
        del jobs[pid]
        signaled = os.WIFSIGNALED(status)
        code = None if signaled else os.WEXITSTATUS(status)
        name = signal_name(os.WTERMSIG(status)) if signaled else None
        yield pid, {"id": job, "code": code, "signal": name, "alone": alone}


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def end_orphans(ended: int, jobs: dict[int, int], orphans: dict[int, set[int]]) -> bool:
    """Kills leftovers that only the ended job can have left. Others wait until their last candidate ends.

    Returns whether there is no leftover of any job.
    """
    living = children()
    leftovers = [pid for pid in living or [] if pid not in jobs]
    for pid in leftovers:
        orphans.setdefault(pid, set(jobs))
    for pid, candidates in list(orphans.items()):
        candidates.discard(ended)
        if not candidates:
            kill(pid)
    return living is not None and not leftovers


def children() -> list[int] | None:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return None  # a kernel without this list: the runner still ends known leftovers


def kill(pid: int) -> None:
    """A negative pid names a group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def end_all(jobs: dict[int, int]) -> None:
    for pid in jobs:
        kill(-pid)
    # orphans become children of this process: repeats until none is left
    for _ in range(1000):
        for pid in children() or []:
            kill(pid)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


if __name__ == "__main__":
    sys.exit(main())
