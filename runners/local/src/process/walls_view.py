"""Makes the root of a process inside walls: the paths of its view, and nothing else of the host."""

# importing pathlib would take longer than making the root
# ruff: noqa: PTH101, PTH102, PTH103, PTH110, PTH112, PTH114, PTH115, PTH120, PTH123, PTH211

import os

from kernel_calls import (
    MS_BIND,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_PRIVATE,
    MS_RDONLY,
    MS_REC,
    MS_REMOUNT,
    call,
    mount,
    remount,
)

# in mountinfo; a codec for them would be imported, and no library can be found while the root changes
ESCAPES = (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\"))
MNT_DETACH = 2
OLD, NEW = "/old", "/new"


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
    mount("proc", NEW + "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, b"proc")
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


def tmpfs(target: str, options: str) -> None:
    mount("tmpfs", target, MS_NOSUID | MS_NODEV, b"tmpfs", options.encode())


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
        writable = any(f"{name}/".startswith(f"{one}/") for one in writes)
        # a dead mount of another host must not be asked
        remount(point, MS_NOSUID | MS_NODEV | (0 if writable else MS_RDONLY), fields[5].split(","))
