"""Builds the walls around a stage that opens what untrusted code made, from inside the process.

The description of the walls is plain data (walls.ts). A forked child of a warm process calls
`enter`; a program that starts fresh is started by this file: `walls.py FILE -- PROGRAM …`.

Three processes remain. The outer one stays in the runner's namespaces and ends as the program
ended. The first process inside reaps and ends everything with the program. The program is its
child, so that signals work as usual.
"""

# importing pathlib or base64 would take longer than building the walls
# ruff: noqa: PTH101, PTH102, PTH103, PTH110, PTH112, PTH114, PTH115, PTH120, PTH123, PTH211

import binascii
import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
import struct
import sys
from typing import NoReturn

CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS = 0x00020000, 0x02000000, 0x04000000
CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x08000000, 0x10000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_NOATIME, MS_NODIRATIME, MS_BIND, MS_REC, MS_PRIVATE = 1024, 2048, 4096, 16384, 1 << 18
MS_RELATIME = 1 << 21
# options of a mount that a user namespace must not drop
KEPT = {
    "ro": MS_RDONLY,
    "nosuid": MS_NOSUID,
    "nodev": MS_NODEV,
    "noexec": MS_NOEXEC,
    "noatime": MS_NOATIME,
    "nodiratime": MS_NODIRATIME,
    "relatime": MS_RELATIME,
}
# in mountinfo; a codec for them would be imported, and no library can be found while the root changes
ESCAPES = (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\"))
MNT_DETACH = 2
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 4, 22, 24
PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 38, 47, 4
SECCOMP_MODE_FILTER = 2
CAPABILITIES, CAPABILITY_VERSION = 64, 0x20080522
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)

OLD, NEW = "/old", "/new"

libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    file, _, *argv = sys.argv[1:]
    with open(file, encoding="utf-8") as text:
        walls = json.load(text)
    try:
        enter(walls)
    except BaseException as error:
        os.write(2, f"mlrb: the walls cannot be built: {error}\n".encode())
        os._exit(125)
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
    if not user:  # keeps the user's number
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{uid} {uid} 1"),
            ("gid_map", f"{gid} {gid} 1"),
        ):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
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
        os.write(2, f"mlrb: the walls cannot be built: {error}\n".encode())
        os._exit(125)
    if program:
        reap(program, status_write)
    os.close(status_write)
    os.close(alive_read)
    call("prctl", PR_SET_DUMPABLE, 1, 0, 0, 0)  # otherwise it could not read its own /proc entries


def call(name: str, *args: object) -> None:
    if getattr(libc, name)(*args) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


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


def show(view: dict) -> None:
    """Makes a root that holds the paths in `view` only."""
    mount("none", "/", MS_REC | MS_PRIVATE)
    tmpfs("/tmp", "mode=755")
    os.mkdir("/tmp" + OLD)
    os.mkdir("/tmp" + NEW)
    call("pivot_root", b"/tmp", b"/tmp" + OLD.encode())
    os.chdir("/")
    mount(NEW, NEW, MS_BIND)
    os.mkdir(NEW + "/proc")
    call(
        "mount",
        b"proc",
        f"{NEW}/proc".encode(),
        b"proc",
        ctypes.c_ulong(MS_NOSUID | MS_NODEV | MS_NOEXEC),
        None,
    )
    for path, size in view["memory"].items():
        os.makedirs(NEW + path, exist_ok=True)
        tmpfs(NEW + path, f"mode=1777,size={size}")
    shown: list[str] = []
    for path in [*view["reads"], *view["devices"]]:
        bind(path, shown, writable=False)
    writes = [real for path in view["writes"] if (real := bind(path, shown, writable=True))]
    for path, text in view["files"].items():
        make_file(NEW + path, text)
    for name in view["hidden"]:
        if os.path.exists(NEW + name):
            mount(OLD + "/dev/null", NEW + name, MS_BIND)
    for path, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        os.symlink(f"/proc/self/{target}", f"{NEW}/dev/{path}")
    protect(writes, {*view["devices"], *view["memory"]})
    call("umount2", OLD.encode(), MNT_DETACH)
    os.chdir(NEW)
    call("pivot_root", b".", b".")
    call("umount2", b".", MNT_DETACH)
    mount("none", "/", MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)
    os.chdir(view["cwd"])


def mount(source: str, target: str, flags: int) -> None:
    call("mount", os.fsencode(source), os.fsencode(target), None, ctypes.c_ulong(flags), None)


def tmpfs(target: str, options: str) -> None:
    flags = ctypes.c_ulong(MS_NOSUID | MS_NODEV)
    call("mount", b"tmpfs", os.fsencode(target), b"tmpfs", flags, options.encode())


def make_file(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o444)


def bind(path: str, shown: list[str], *, writable: bool) -> str | None:
    """Shows the host's `path` at its own name, through the same links; returns its real name."""
    left, at = path.split("/"), ""
    for _ in range(4096):
        if not left:
            break
        part = left.pop(0)
        if part in ("", "."):
            continue
        child = os.path.dirname(at) if part == ".." else f"{at}/{part}"
        if os.path.islink(OLD + child):
            target = os.readlink(OLD + child)
            if not os.path.lexists(NEW + child):
                os.symlink(target, NEW + child)
            left = [*target.split("/"), *left]
            at = "" if target.startswith("/") else at
            continue
        at = child
        if left and not os.path.isdir(NEW + at):
            os.mkdir(NEW + at, 0o755)
    if not os.path.lexists(OLD + at):
        return None  # an optional path
    if not writable and any(f"{at}/".startswith(f"{one}/") for one in shown):
        return at
    if os.path.isdir(OLD + at):
        os.makedirs(NEW + at, exist_ok=True)
    elif not os.path.lexists(NEW + at):
        os.close(os.open(NEW + at, os.O_CREAT | os.O_WRONLY, 0o444))
    mount(OLD + at, NEW + at, MS_BIND | MS_REC)
    shown.append(at)
    return at


def protect(writes: list[str], kept: set[str]) -> None:
    """Makes every mount read-only but those in `writes`, and leaves those in `kept`."""
    with open(f"{NEW}/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        lines = file.read().splitlines()
    for line in lines:
        fields = line.split(" ")
        point = fields[4]
        for escape, text in ESCAPES:
            point = point.replace(escape, text)
        name = point[len(NEW) :]
        if not point.startswith(NEW + "/") or name in kept or f"{name}/".startswith("/proc/"):
            continue
        flags = MS_NOSUID | MS_NODEV
        for option in fields[5].split(","):
            flags |= KEPT.get(option, 0)
        if not any(f"{name}/".startswith(f"{one}/") for one in writes):
            flags |= MS_RDONLY
        mount("none", point, MS_REMOUNT | MS_BIND | flags)


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


def raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        request = struct.pack("16sH14x", b"lo", 0)
        (flags,) = struct.unpack("16xH14x", fcntl.ioctl(asking, SIOCGIFFLAGS, request))
        fcntl.ioctl(asking, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))


if __name__ == "__main__":
    main()
