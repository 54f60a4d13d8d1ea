"""Confines this process to its stage's permissions, like namespaces.ts but without a program.

The process is a forked child, so it has one thread and may create its own user namespace.
"""

# ruff: noqa: PTH123

import ctypes
import fcntl
import os
import socket
import struct

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
# statvfs flags to mount flags: a user namespace must not drop these
KEPT = {2: 2, 4: 4, 8: 8, 1024: 1024, 2048: 2048, 4096: 1 << 21}
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1


def confine(read_only: str | None, offline: bool) -> None:
    """Raises OSError where the system refuses."""
    if read_only is None and not offline:
        return
    libc = ctypes.CDLL(None, use_errno=True)

    def call(name: str, *args: object) -> None:
        if getattr(libc, name)(*args) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"{name}: {os.strerror(number)}")

    def mount(source: str, target: str, flags: int) -> None:
        call("mount", os.fsencode(source), os.fsencode(target), None, ctypes.c_ulong(flags), None)

    user, group = os.geteuid(), os.getegid()
    call("unshare", CLONE_NEWNS | (CLONE_NEWNET if offline else 0) | (CLONE_NEWUSER if user != 0 else 0))
    if user != 0:  # keeps the user's number
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    mount("none", "/", MS_REC | MS_PRIVATE)
    if read_only is not None:
        mount(read_only, read_only, MS_BIND)
        has = os.statvfs(read_only).f_flag
        kept = sum(flag for bit, flag in KEPT.items() if has & bit)
        mount("none", read_only, MS_REMOUNT | MS_BIND | MS_RDONLY | kept)
    if offline:
        raise_loopback()


def raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        request = struct.pack("16sH14x", b"lo", 0)
        (flags,) = struct.unpack("16xH14x", fcntl.ioctl(asking, SIOCGIFFLAGS, request))
        fcntl.ioctl(asking, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))
