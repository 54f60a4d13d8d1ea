"""Builds the walls around a stage that opens what untrusted code made, from inside the process.

The description of the walls is plain data (walls.ts). A forked child of a warm process calls
`enter`; without such a process this file starts a program: `walls.py FILE -- PROGRAM …`.

Three processes remain. The outer one stays in the runner's namespaces and ends as the program
ended. The first process inside reaps and ends everything with the program. The program is its
child, so that signals work as usual.
"""

# importing pathlib or base64 would take longer than building the walls
# ruff: noqa: PTH120, PTH123

import binascii
import ctypes
import json
import os
import resource
import signal
import struct
import sys
from typing import NoReturn

sys.path.append(os.path.dirname(os.path.realpath(__file__)))  # with -I, Python looks for no modules here
from kernel_calls import CLONE_NEWNET, CLONE_NEWNS, CLONE_NEWUSER, call, keep_user, libc, raise_loopback
from walls_view import show

del sys.path[-1]

CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWPID = 0x02000000, 0x04000000, 0x08000000, 0x20000000
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 4, 22, 24
PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 38, 47, 4
SECCOMP_MODE_FILTER = 2
CAPABILITIES, CAPABILITY_VERSION = 64, 0x20080522
IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


def main() -> None:
    file, _, *argv = sys.argv[1:]
    with open(file, encoding="utf-8") as text:
        walls = json.load(text)
    try:
        enter(walls)
    except BaseException as error:
        end_unbuilt(error)
    execute(argv)


def end_unbuilt(error: BaseException) -> NoReturn:
    os.write(2, f"mlrb: the walls cannot be built: {error}\n".encode())
    os._exit(125)


def execute(argv: list[str]) -> NoReturn:
    """The program inside walls takes the place of this process."""
    # Python ignores some signals, and a program would inherit that
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        os.write(2, f"mlrb: {argv[0]}: {error.strerror}\n".encode())
        os._exit(127)


def enter(walls: dict) -> None:
    """Returns inside the walls, in a new process. Raises OSError where the system refuses."""
    if walls["view"] is None:
        join(walls["groups"])
        limit(walls["limits"], own_user=False)
        call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        return
    uid, gid = os.geteuid(), os.getegid()
    user = walls["user"]
    spaces = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET
    call("unshare", spaces | (0 if user else CLONE_NEWUSER))
    if not user:
        keep_user(uid, gid)
    status_read, status_write = os.pipe()
    alive_read, alive_write = os.pipe()
    first = os.fork()
    if first:
        os.close(status_write)
        os.close(alive_read)
        outlive(first, status_read)
    os.close(status_read)
    os.close(alive_write)
    try:
        join(walls["groups"])  # without the outer process: a full group ends one of its own
        libc.unshare(CLONE_NEWCGROUP)  # an old kernel has none
        raise_loopback()
        libc.sethostname(b"stage", 5)
        show(walls["view"])
        surrender(walls)
        call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if not is_alive(alive_read):
            os._exit(1)
        program = os.fork()
    except BaseException as error:
        end_unbuilt(error)
    if program:
        reap(program, status_write)
    os.close(status_write)
    os.close(alive_read)
    call("prctl", PR_SET_DUMPABLE, 1, 0, 0, 0)  # otherwise it could not read its own /proc entries


def join(groups: list[str]) -> None:
    for group in groups:
        with open(group, "w", encoding="ascii") as file:
            file.write("0")


def ignore_signals() -> None:
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)


def outlive(first: int, status: int) -> NoReturn:
    """In the outer process: waits for the first process, and ends as the program ended."""
    ignore_signals()  # they are sent to the whole group, and the program handles them
    os.waitpid(first, 0)
    answer = os.read(status, 4)
    end_like(int.from_bytes(answer, "big") if len(answer) == 4 else signal.SIGKILL)


def reap(program: int, status: int) -> NoReturn:
    """In the first process: its end ends everything inside."""
    ignore_signals()
    while True:
        pid, how = os.waitpid(-1, 0)
        if pid == program:
            os.write(status, how.to_bytes(4, "big"))
            os._exit(0)


def end_like(how: int) -> NoReturn:
    if os.WIFSIGNALED(how):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        number = os.WTERMSIG(how)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(how))


def is_alive(pipe: int) -> bool:
    """Whether the outer process still holds the other end."""
    os.set_blocking(pipe, False)
    try:
        return os.read(pipe, 1) != b""
    except BlockingIOError:
        return True


def surrender(walls: dict) -> None:
    """Gives up every right: capabilities, the user, most system calls."""
    for capability in range(CAPABILITIES):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    limit(walls["limits"], own_user=True)
    if walls["user"]:
        uid, gid = walls["user"]
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
    libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    call("capset", struct.pack("=Ii", CAPABILITY_VERSION, 0), struct.pack("=6I", 0, 0, 0, 0, 0, 0))
    call("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0)
    call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    code = binascii.a2b_base64(walls["seccomp"])
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
    call("prctl", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.c_char_p(program), 0, 0)


def limit(limits: dict, *, own_user: bool) -> None:
    held = {"CORE": 0, "FSIZE": limits["fileBytes"], "NOFILE": limits["files"]}
    if own_user:  # otherwise the kernel counts all processes of the runner's user
        held["NPROC"] = limits["processes"]
    if limits["dataBytes"] is not None:  # a forked child begins with the memory of its libraries
        held["DATA"] = limits["dataBytes"] + held_data()
    for name, wanted in held.items():
        number = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(number)[1]
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(number, (value, value))


def held_data() -> int:
    with open("/proc/self/statm", "rb") as file:  # a codec may lie outside of the view
        return int(file.read().split()[5]) * resource.getpagesize()


if __name__ == "__main__":
    main()
