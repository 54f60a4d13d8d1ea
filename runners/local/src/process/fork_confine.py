"""Confines this process to its stage's permissions, like namespaces.ts but without a program.

The process is a forked child, so it has one thread and may create its own user namespace.
"""

import os

from kernel_calls import (
    CLONE_NEWNET,
    CLONE_NEWNS,
    CLONE_NEWUSER,
    MS_BIND,
    MS_PRIVATE,
    MS_RDONLY,
    MS_REC,
    MS_REMOUNT,
    call,
    keep_user,
    mount,
    raise_loopback,
)

# statvfs flags to mount flags: a user namespace must not drop these
KEPT = {2: 2, 4: 4, 8: 8, 1024: 1024, 2048: 2048, 4096: 1 << 21}


def confine(read_only: str | None, offline: bool) -> None:
    """Raises OSError where the system refuses."""
    if read_only is None and not offline:
        return
    user, group = os.geteuid(), os.getegid()
    call("unshare", CLONE_NEWNS | (CLONE_NEWNET if offline else 0) | (CLONE_NEWUSER if user != 0 else 0))
    if user != 0:
        keep_user(user, group)
    mount("none", "/", MS_REC | MS_PRIVATE)
    if read_only is not None:
        mount(read_only, read_only, MS_BIND)
        has = os.statvfs(read_only).f_flag
        kept = sum(flag for bit, flag in KEPT.items() if has & bit)
        mount("none", read_only, MS_REMOUNT | MS_BIND | MS_RDONLY | kept)
    if offline:
        raise_loopback()
