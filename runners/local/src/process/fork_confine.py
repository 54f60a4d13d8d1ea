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
    call,
    keep_user,
    mount,
    raise_loopback,
    remount,
)


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
        remount(read_only, MS_RDONLY)
    if offline:
        raise_loopback()
