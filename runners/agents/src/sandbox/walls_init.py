"""The first process behind a sandbox's walls: starts programs on the supervisor's request, and reaps.

Requests come on descriptor 0, answers and output go to 1, both framed. The limits do not apply to this
process: a program enters its control groups and gets its limits and its user between fork and exec.
Programs inside can neither signal this process (the first of a pid namespace), nor inspect it (another
user's, or not dumpable), nor reach its descriptors. It ends with the supervisor, when its pipe closes.
"""

# A sandbox opens in milliseconds. `signal` would cost four of them for enums of the same numbers.
import _signal as signal
import ctypes
import errno
import os
import resource
import select
import struct
import sys
from itertools import pairwise

PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
CAPABILITIES = 64
CAPABILITY_VERSION = 0x20080522
CAP_SETGID, CAP_SETUID, CAP_SETPCAP = 6, 7, 8

libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    # uid gid fileBytes processes cpus groups: every program gets these; "-" is none
    uid, gid, file_bytes, processes, cpus, groups = (argument.split(",") for argument in sys.argv[1:7])
    given = {
        "user": None if uid[0] == "-" else (int(uid[0]), int(gid[0])),
        "file_bytes": int(file_bytes[0]),
        "processes": None if processes[0] == "-" else int(processes[0]),
        "cpus": None if cpus[0] == "-" else [int(one) for one in cpus],
        "groups": [] if groups[0] == "-" else [int(one) for one in groups],
    }
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    if given["user"]:
        keep_from_inheriting()
    ours = (0, 1, 2, *given["groups"])
    for descriptor in ours:
        os.set_inheritable(descriptor, False)
    # the parent of the supervisor may have left descriptors open
    edges = [2, *sorted(given["groups"]), resource.getrlimit(resource.RLIMIT_NOFILE)[0]]
    for before, after in pairwise(edges):
        if before + 1 < after:  # an empty range would close everything
            os.closerange(before + 1, after)
    os.set_blocking(0, False)
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_read, False)
    os.set_blocking(wake_write, False)
    # A program of the same user may send any signal. The first process gets only signals with a handler, and
    # Python has one for this.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    answer(b"r", 0, b"")

    programs: dict[int, int] = {}  # pid -> id
    pipes: dict[int, tuple[bytes, int]] = {}  # descriptor -> stream and id
    poll = select.poll()
    poll.register(0, select.POLLIN)
    poll.register(wake_read, select.POLLIN)
    pending = b""
    while True:
        for descriptor, _ in poll.poll():
            if descriptor == wake_read:
                drain(wake_read)
                reap(programs, pipes, poll)
            elif descriptor == 0:
                chunk = read(0)
                if chunk == b"":
                    return
                pending += chunk or b""
                while len(pending) >= 4 and len(pending) >= 4 + (size := int.from_bytes(pending[:4], "big")):
                    begin(pending[4 : 4 + size], given, programs, pipes, poll)
                    pending = pending[4 + size :]
            elif descriptor in pipes:
                forward(descriptor, pipes, poll)


def keep_from_inheriting() -> None:
    """Empties the set of inheritable capabilities; this process keeps its own."""
    header = struct.pack("=Ii", CAPABILITY_VERSION, 0)
    held = sum(1 << one for one in (CAP_SETGID, CAP_SETUID, CAP_SETPCAP))
    libc.capset(header, struct.pack("=6I", held, held, 0, 0, 0, 0))


def answer(kind: bytes, program: int, data: bytes) -> None:
    data = kind + program.to_bytes(4, "big") + len(data).to_bytes(4, "big") + data
    while data:
        try:
            data = data[os.write(1, data) :]
        except BlockingIOError:
            select.select([], [1], [])
        except BrokenPipeError:
            os._exit(0)  # the supervisor is gone, and its programs with this process


def read(descriptor: int) -> bytes | None:
    """None if there is nothing yet, b"" at the end."""
    try:
        return os.read(descriptor, 1 << 16)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def drain(descriptor: int) -> None:
    while read(descriptor):
        pass


def forward(descriptor: int, pipes: dict, poll: select.poll) -> bool:
    """Whether there may be more."""
    stream, program = pipes[descriptor]
    chunk = read(descriptor)
    if chunk:
        answer(stream, program, chunk)
        return True
    if chunk == b"":
        poll.unregister(descriptor)
        del pipes[descriptor]
        os.close(descriptor)
    return False


def begin(request: bytes, given: dict, programs: dict, pipes: dict, poll: select.poll) -> None:
    program, cwd, count, *rest = request.split(b"\0")
    argv, env = rest[: int(count)], rest[int(count) :]
    number = int(program)
    ours, theirs = [], []
    try:
        for _ in range(3):
            read_end, write_end = os.pipe()
            ours.append(read_end)
            theirs.append(write_end)
        pid = os.fork()
    except OSError as error:
        for descriptor in ours + theirs:
            os.close(descriptor)
        answer(b"f", number, failure(error))
        return
    if pid == 0:
        try:
            become(argv, env, cwd, theirs, given)
        except BaseException as error:
            os.write(theirs[2], failure(error))
        os._exit(127)
    for descriptor in theirs:
        os.close(descriptor)
    # closed by exec, or holds the reason why exec failed
    why = b""
    while chunk := os.read(ours[2], 4096):
        why += chunk
    os.close(ours[2])
    if why:
        os.waitpid(pid, 0)
        for descriptor in ours[:2]:
            os.close(descriptor)
        answer(b"f", number, why)
        return
    programs[pid] = number
    for descriptor, stream in ((ours[0], b"o"), (ours[1], b"e")):
        os.set_blocking(descriptor, False)
        pipes[descriptor] = (stream, number)
        poll.register(descriptor, select.POLLIN)


def failure(error: BaseException) -> bytes:
    code = errno.errorcode.get(getattr(error, "errno", None) or 0, "")
    return f"{code}: {error}".encode(errors="replace") if code else repr(error).encode()


def become(argv: list[bytes], env: list[bytes], cwd: bytes, theirs: list[int], given: dict) -> None:
    """In the child: removes all of the first process before the program begins."""
    os.setsid()
    for group in given["groups"]:
        os.write(group, b"0")
    nothing = os.open("/dev/null", os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(theirs[0], 1)
    os.dup2(theirs[1], 2)
    if given["cpus"]:
        os.sched_setaffinity(0, given["cpus"])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (given["file_bytes"], given["file_bytes"]))
    if given["processes"]:
        resource.setrlimit(resource.RLIMIT_NPROC, (given["processes"], given["processes"]))
    if given["user"]:
        for capability in range(CAPABILITIES):
            libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
        uid, gid = given["user"]
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
    os.umask(0o022)
    os.chdir(cwd)
    # Python ignores some signals, and a program would inherit that
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
        signal.signal(ignored, signal.SIG_DFL)
    environment = dict(one.split(b"=", 1) for one in env)
    path = environment.get(b"PATH", b"/usr/local/bin:/usr/bin:/bin")
    why: OSError = FileNotFoundError(errno.ENOENT, "no such program on the PATH", argv[0])
    for candidate in (
        [argv[0]] if b"/" in argv[0] else [folder + b"/" + argv[0] for folder in path.split(b":")]
    ):
        try:
            os.execve(candidate, argv, environment)
        except FileNotFoundError as error:
            if b"/" in argv[0]:
                why = error
        except OSError as error:
            why = error
    raise why


def reap(programs: dict, pipes: dict, poll: select.poll) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        number = programs.pop(pid, None)
        if number is None:
            continue
        # Its last output is still in its pipes. Other holders may write to them without end, so at most the
        # content of a full pipe is read.
        for descriptor in [one for one, (_, program) in pipes.items() if program == number]:
            for _ in range(17):
                if not forward(descriptor, pipes, poll):
                    break
        if os.WIFSIGNALED(status):
            answer(b"s", number, str(os.WTERMSIG(status)).encode())
        else:
            answer(b"x", number, str(os.WEXITSTATUS(status)).encode())


if __name__ == "__main__":
    main()
