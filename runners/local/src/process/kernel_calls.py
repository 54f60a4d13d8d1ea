"""System calls that Python lacks, for a process that confines itself."""

# importing pathlib would take longer than the calls
# ruff: noqa: PTH123

import ctypes
import fcntl
import os
import socket
import struct

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_NOATIME, MS_NODIRATIME, MS_BIND, MS_REC, MS_PRIVATE = 1024, 2048, 4096, 16384, 1 << 18
# a user namespace must not drop these: statvfs flags, with mount flags and names in mountinfo
KEPT = {
    1: (MS_RDONLY, "ro"),
    2: (MS_NOSUID, "nosuid"),
    4: (MS_NODEV, "nodev"),
    8: (MS_NOEXEC, "noexec"),
    1024: (MS_NOATIME, "noatime"),
    2048: (MS_NODIRATIME, "nodiratime"),
    4096: (1 << 21, "relatime"),
}
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1

libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *args: object) -> None:
    """Raises OSError where the system refuses."""
    if getattr(libc, name)(*args) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def mount(source: str, target: str, flags: int, kind: bytes | None = None, data: bytes | None = None) -> None:
    call("mount", os.fsencode(source), os.fsencode(target), kind, ctypes.c_ulong(flags), data)


def remount(path: str, flags: int, options: list[str] | None = None) -> None:
    """Adds flags to those of the mount at `path`: `options`, or as its file system answers."""
    if options is None:
        has = os.statvfs(path).f_flag
        kept = sum(flag for bit, (flag, _) in KEPT.items() if has & bit)
    else:
        kept = sum(flag for flag, name in KEPT.values() if name in options)
    mount("none", path, MS_REMOUNT | MS_BIND | kept | flags)


def keep_user(uid: int, gid: int) -> None:
    """Gives the user their own number in the new user namespace of this process."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{uid} {uid} 1"),
        ("gid_map", f"{gid} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        request = struct.pack("16sH14x", b"lo", 0)
        (flags,) = struct.unpack("16xH14x", fcntl.ioctl(asking, SIOCGIFFLAGS, request))
        fcntl.ioctl(asking, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))


def confine(read_only: str | None, offline: bool) -> None:
    """Confines this process to its stage's permissions, like namespaces.ts but without a program.

    The process is a forked child, so it has one thread and may create its own user namespace. Raises OSError
    where the system refuses.
    """
    if read_only is None and not offline:
        return
    user, group = os.geteuid(), os.getegid()
    call("unshare", CLONE_NEWNS | (CLONE_NEWNET if offline else 0) | (CLONE_NEWUSER if user != 0 else 0))
    if user != 0:
        keep_user(user, group)
    mount("none", "/", MS_REC | MS_PRIVATE)
    if read_only is not None:
        mount(read_only, read_only, MS_BIND)
        remount(read_only, MS_RDONLY)
    if offline:
        raise_loopback()
