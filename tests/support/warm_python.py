"""One Python process for the whole suite: it imports the heavy libraries, and forks a child for each script.

A test that scores a tiny model spends seven seconds on imports and half a second on its model.
The suite starts `serve SOCKET PRELOAD` once. A test runs `run SOCKET SCRIPT ARGUMENTS…` in place of
`python SCRIPT ARGUMENTS…`, with the same working directory, variables, input, output and exit
status. A script that measures the memory or the start of its process must not run here.

Runs under test start the server of their scripts in the same way: `fork SOCKET SERVER PRELOAD HOME`
has the effect of `python SERVER PRELOAD HOME`, but saves eight seconds of imports.

Libraries store paths below the HOME of their import. Each child has them below its own home instead.
"""

# ruff: noqa: PTH100, PTH109, PTH115, PTH118, PTH120, PTH123, PTH208 (importing pathlib takes longer than the rest of a client)

import json
import os
import socket
import struct
import sys
from collections.abc import Callable

JOB_BYTES_MAX = 1 << 20


def main() -> None:
    command, path, *rest = sys.argv[1:]
    if command == "serve":
        serve(path, rest[0])
    else:
        sys.exit(run(path, rest, forks=command == "fork"))


def run(path: str, argv: list[str], *, forks: bool) -> int:
    """Gives the exit status of the script, as a shell would."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, JOB_BYTES_MAX)
        try:
            server.connect(path)
        except OSError:  # it has not begun to listen, or has ended
            os.execv(sys.executable, [sys.executable, *argv])
        if forks:
            pid = struct.unpack("3i", server.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
            if not can_stand_in(pid, argv[1]):
                os.execv(sys.executable, [sys.executable, *argv])
        job = json.dumps({"argv": argv, "env": dict(os.environ), "cwd": os.getcwd(), "forks": forks}).encode()
        socket.send_fds(server, [job], [0, 1, 2])
        status = server.recv(64)
    if not status:
        sys.exit("the warm Python process ended")
    return int(status)


def can_stand_in(pid: int, preload: str) -> bool:
    """Whether a fork of `pid` can stand in for this process: same libraries, user, namespaces and limits."""
    theirs, ours = f"/proc/{pid}", "/proc/self"
    try:
        command = read(f"{theirs}/cmdline").split(b"\0")
        same_rights = status_of(theirs) == status_of(ours)
        same_views = all(
            os.readlink(f"{theirs}/{link}") == os.readlink(f"{ours}/{link}")
            for link in ("exe", "root", *(f"ns/{name}" for name in os.listdir(f"{ours}/ns")))
        )
        same_limits = all(read(f"{theirs}/{name}") == read(f"{ours}/{name}") for name in ("limits", "cgroup"))
        threads = start_variables(pid).get("OMP_NUM_THREADS") == os.environ.get("OMP_NUM_THREADS")
        return (
            same_rights
            and same_views
            and same_limits
            and threads
            and read(command[-2].decode()) == read(preload)
        )
    except (OSError, IndexError):  # of another namespace, or not to be seen by this user
        return False


def status_of(process: str) -> list[bytes]:
    names = (b"Uid", b"Gid", b"Groups", b"NoNewPrivs", b"Seccomp", b"Umask", b"Cap", b"Cpus_allowed:")
    return [line for line in read(f"{process}/status").splitlines() if line.startswith(names)]


def start_variables(pid: int) -> dict[str, str]:
    try:
        entries = os.fsdecode(read(f"/proc/{pid}/environ")).split("\0")
    except OSError:
        return {}
    return dict(entry.split("=", 1) for entry in entries if "=" in entry)


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def serve(path: str, preload: str) -> None:
    """Answers until it is killed. Clients wait in the socket's queue while the libraries are imported."""
    import gc
    import runpy
    import signal

    end_with_parent()  # the suite, however it ends
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(path)
    listener.listen(64)
    sys.path.pop(0)  # the folder of this file
    runpy.run_path(preload)
    redirect = redirection(os.environ["HOME"])
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        client, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            answer(client, redirect)
        client.close()


def redirection(home: str) -> Callable[[str], None]:
    """Gives the function that points the paths that libraries have stored below `home` to a child's home."""
    import runpy

    source = os.path.join(os.path.dirname(__file__), "../../runners/local/src/process/fork_places.py")
    fork_places = runpy.run_path(source)
    places = fork_places["places_below"](home)
    return lambda to: fork_places["point"](places, home, to)


def end_with_parent() -> None:
    """Has the kernel kill this process when its parent has ended. Linux; forks do not inherit it."""
    import ctypes
    import signal

    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)


def answer(client: socket.socket, redirect: Callable[[str], None]) -> None:
    """Runs one job in a child of its own, so that the child's end can be reported whatever it was.

    The job ends with its client: the suite kills all that a file of tests that hangs has started.
    """
    import contextlib
    import select
    import signal

    end_with_parent()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    status = 125
    try:
        message, given, _, _ = socket.recv_fds(client, JOB_BYTES_MAX, 3)
        if not message:
            os._exit(0)  # its test file was killed before it asked
        job = json.loads(message)
        child = os.fork()
        if child == 0:
            end_with_parent()
            os.setpgid(0, 0)
            for stream, descriptor in enumerate(given):
                os.dup2(descriptor, stream)
                os.close(descriptor)
            client.close()
            be_the_script(job, redirect)
        for descriptor in given:
            os.close(descriptor)  # else a reader would wait for the end of this process
        ended = os.pidfd_open(child)
        watch = select.poll()
        watch.register(ended, select.POLLIN)
        watch.register(client, 0)  # that it is gone is told unasked
        while ended not in [file for file, _ in watch.poll()]:
            watch.unregister(client)
            os.kill(child, signal.SIGKILL)
            os.killpg(child, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        status = code if code >= 0 else 128 - code
    finally:
        with contextlib.suppress(BrokenPipeError):  # its test file was killed
            client.send(str(status).encode())
        os._exit(0)


def be_the_script(job: dict, redirect: Callable[[str], None]) -> None:
    import gc
    import runpy
    import tempfile
    import traceback

    status = 1
    try:
        if job["forks"]:
            gc.unfreeze()  # the server looks through all objects for paths below its home
            redirect(job["argv"][2])
        else:
            redirect(job["env"].get("HOME", "/"))
            tempfile.tempdir = None  # the job's TMPDIR, not the one of the import
        os.chdir(job["cwd"])
        os.environ.clear()
        os.environ.update(job["env"])
        script = os.path.abspath(job["argv"][0])
        sys.argv = [script, *job["argv"][1:]]
        more = [folder for folder in job["env"].get("PYTHONPATH", "").split(":") if folder]
        sys.path[:0] = [os.path.dirname(script), *more]
        sys.modules.pop("__mp_main__", None)  # another name of this module
        runpy.run_path(script, run_name="__main__")
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if status and not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(status)


if __name__ == "__main__":
    main()
