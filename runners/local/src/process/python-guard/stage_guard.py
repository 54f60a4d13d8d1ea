"""Restricts a stage's Python script to its pipeline's declarations, by an audit hook.

The counterpart of Node's permission model: a guard against mistakes, so that a key covers all
reads. It is not a wall against hostile code. Files that native code (Rust, C) opens by itself
are missed.
"""

# importing pathlib would take longer than a script may wait for this
# ruff: noqa: PTH100, PTH112, PTH118, PTH120, PTH123

from __future__ import annotations

import _thread
import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing would take as long as all else here
    from typing import Any

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

# events that change files: argument positions of the path, and of the folder for relative paths
CHANGES = {
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.link": ((1, 3),),
    "os.mkdir": ((0, 2),),
    "os.remove": ((0, 1),),
    "os.rename": ((0, 2), (1, 3)),
    "os.rmdir": ((0, 1),),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, None),),
    "os.utime": ((0, 3),),
}
LISTS = ("os.listdir", "os.scandir")
# no event reports these; for a relative path, the event of `open` lacks its folder
UNREPORTED = ("access", "lstat", "open", "readlink", "stat")
PROGRAMS = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "os.spawn")
CONNECTS = ("socket.connect", "socket.sendto", "socket.sendmsg")
# modules of the standard library that start programs to identify the machine, and work without an answer
PROBES = {"platform", "ctypes.util", "uuid"}
LOOKS_UP = ("socket.getaddrinfo", "socket.gethostbyname")
EVENTS = frozenset(["open", "sqlite3.connect", *LISTS, *CHANGES, *PROGRAMS, *CONNECTS, *LOOKS_UP])


class Undeclared(PermissionError):
    """An access that the stage's pipeline does not declare."""


def hold_or_end(file: str) -> None:
    """Restricts this process to the permissions in `file`; ends it where they cannot be read."""
    try:
        with open(file, encoding="utf-8") as text:
            permissions = json.load(text)
        guard = Guard(permissions)
        ignore_byte_code(guard)
        sys.addaudithook(guard.hook)
        for name in UNREPORTED:
            check_calls(name, guard)
    except BaseException as error:
        os.write(2, f"mlrb: the stage's permissions cannot be read: {error!r}\n".encode())
        os._exit(125)


def ignore_byte_code(guard: Guard) -> None:
    """Loads the repository's modules from their source.

    Any Python that imported them may have left byte code next to them. It is in no key, and
    importlib believes it where only the time and the size of the source agree.
    """
    loader = sys.modules["_frozen_importlib_external"]
    cache_from_source = loader.cache_from_source
    known: dict[str, bool] = {}

    def of_environment(path: str, *args: Any, **options: Any) -> str:
        folder = os.path.dirname(path)
        if folder not in known:
            names = (os.path.abspath(folder), os.path.realpath(folder))
            known[folder] = any(guard.is_of_repository(name) for name in names)
        if known[folder]:
            raise NotImplementedError  # importlib then neither reads nor writes byte code
        return cache_from_source(path, *args, **options)

    loader.cache_from_source = of_environment


def check_calls(name: str, guard: Guard) -> None:
    """Has the guard check the paths that `os` is asked about by this function."""
    call = getattr(os, name)

    def checked(path: Any, *args: Any, dir_fd: int | None = None, **options: Any) -> Any:
        if dir_fd is not None:
            path = within(dir_fd, os.fspath(path))
        if name != "open" and not isinstance(path, int) and not guard.had_loaded(path):
            guard.alone(guard.ask, os.fspath(path))
        return call(path, *args, **options)

    setattr(os, name, checked)
    for able in (os.supports_dir_fd, os.supports_effective_ids, os.supports_fd, os.supports_follow_symlinks):
        if call in able:
            able.add(checked)


readlink = os.readlink  # as it is before it is checked


def within(folder: int, path: Any) -> Any:
    """The absolute path of one that is relative to an open folder; -1: to the working directory."""
    if folder == -1:
        return path
    above = readlink(f"/proc/self/fd/{folder}")
    return os.path.join(os.fsencode(above) if isinstance(path, bytes) else above, path)


class Guard:
    def __init__(self, permissions: dict[str, Any]) -> None:
        own = {sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.dirname(os.__file__)}
        own |= {os.path.realpath(path) for path in own}
        self.root: str = permissions["root"]
        self.own = folders([*own])
        self.reads = folders([*permissions["reads"], *own])
        self.writes = folders([*permissions["writes"], "/dev", "/proc"])
        self.lists = set(permissions["lists"])
        # a system folder may contain the repository, whose files are not the system's
        self.held = folders([self.root, os.path.realpath(self.root)])
        self.network: bool = permissions["network"]
        self.programs: bool = permissions["programs"]
        self.refusals: str = permissions["refusals"]
        self.noted: set[str] = set()
        self.known: set[tuple[str, str]] = set()  # allowed accesses
        self.busy = _thread._local()
        files = [getattr(module, "__file__", None) for module in [*sys.modules.values()]]
        self.loaded = {os.path.abspath(file) for file in [*files, *sys.orig_argv] if isinstance(file, str)}

    def had_loaded(self, path: Any) -> bool:
        """Of a program that ran before the stage: a traceback looks whether its text has changed."""
        return os.path.abspath(os.fsdecode(path)) in self.loaded

    def hook(self, event: str, args: tuple[Any, ...]) -> None:
        if event in EVENTS:
            self.alone(self.handle, event, args)

    def alone(self, handle: Any, *args: Any) -> None:
        """Calls `handle` unless this thread's call is the guard's own."""
        if getattr(self.busy, "on", False):
            return
        self.busy.on = True
        try:
            handle(*args)
        finally:
            self.busy.on = False

    def handle(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = args
            if not isinstance(path, (str, bytes)):
                return
            writing = (flags or 0) & WRITING
            # os.open of a folder reads nothing; no event reports the folder of a relative path
            if writing or mode is not None or not os.path.isdir(path):
                self.check("write" if writing else "read", path)
        elif event in LISTS:
            self.check("list", within(args[0], "") if isinstance(args[0], int) else args[0] or ".")
        elif event in CHANGES:
            for at, folder in CHANGES[event]:
                path = args[at]
                if isinstance(path, (str, bytes)):
                    self.check("write", within(-1 if folder is None else args[folder], path))
            if event in ("os.link", "os.symlink"):
                self.check_source(args, is_link=event == "os.symlink")
        elif event == "sqlite3.connect":
            if isinstance(args[0], (str, bytes)) and os.fsdecode(args[0]) not in {"", ":memory:"}:
                self.check_database(os.fsdecode(args[0]))
        elif event in PROGRAMS and not self.programs:
            if is_probe():
                raise FileNotFoundError(2, "this stage starts no programs", program_name(args))
            self.refuse("program", program_name(args))
        elif event in CONNECTS and not self.network:
            address = args[1]
            if isinstance(address, tuple) and not is_local(address[0]):
                self.refuse("network", str(address[0]))
        elif event in LOOKS_UP and not self.network and not is_local(args[0]):
            self.refuse("network", os.fsdecode(args[0]))

    def check_source(self, args: tuple[Any, ...], *, is_link: bool) -> None:
        """Requires a declared source: a new link makes its source readable."""
        source, to = args[0], args[1]
        if not isinstance(source, (str, bytes)) or not isinstance(to, (str, bytes)):
            return
        if is_link:
            above = os.path.dirname(os.path.abspath(os.fsdecode(within(args[2], to))))
            self.check("read", os.path.join(above, os.fsdecode(source)))
        else:
            self.check("read", within(args[2], source))

    def check_database(self, name: str) -> None:
        if not name.startswith("file:"):
            self.check("read" if os.path.lexists(name) else "write", name)

    def ask(self, path: str | bytes) -> None:
        """Checks a question about a file of the repository: its existence, size, time or target."""
        name = os.path.abspath(os.fsdecode(path))
        if name.startswith("/proc/"):
            name = os.path.realpath(name)
        if ("read", name) not in self.known and self.is_of_repository(name) and not os.path.isdir(name):
            self.check("read", name)

    def check(self, kind: str, path: str | bytes) -> None:
        name = os.path.abspath(os.fsdecode(path))
        if name.startswith("/proc/"):  # links there may lead anywhere
            name = os.path.realpath(name)
        if (kind, name) in self.known:
            return
        if self.allows(kind, name):
            if len(self.known) < 100_000:
                self.known.add((kind, name))
        # a missing file is not read; libraries look for many optional files
        elif kind == "write" or os.path.lexists(name):
            self.refuse(kind, name)

    def allows(self, kind: str, name: str) -> bool:
        names = {name, os.path.realpath(name)}
        if kind == "write":
            return any(covers(self.writes, one) for one in names)
        if any(self.covered(one) for one in names):
            return True
        return kind == "list" and not names.isdisjoint(self.lists)

    def is_of_repository(self, name: str) -> bool:
        """Whether `name` is a file of the repository, and of no environment inside it."""
        return covers(self.held, name) > covers(self.own, name)

    def covered(self, name: str) -> bool:
        """Whether `name` may be read: a permitted path wins if at least as deep as a restricted one."""
        length = covers(self.reads, name)
        return length > 0 and length >= covers(self.held, name)

    def refuse(self, kind: str, resource: str) -> None:
        self.note(kind, resource)
        does = {"program": "starts", "network": "reaches for"}.get(kind, f"{kind}s")
        raise Undeclared(13, f"this stage {does} {resource}, which its pipeline does not declare")

    def note(self, kind: str, resource: str) -> None:
        line = json.dumps({"kind": kind, "resource": resource})
        if line in self.noted or len(self.noted) >= 200:
            return
        self.noted.add(line)
        try:
            file = os.open(self.refusals, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            os.write(file, f"{line}\n".encode())
            os.close(file)
        except OSError:
            pass  # the script's own error names the refusal


def folders(paths: list[str]) -> frozenset[str]:
    return frozenset(path.rstrip("/") or "/" for path in paths)


def covers(known: frozenset[str], name: str) -> int:
    """The length of the innermost path in `known` that is `name` or above it; 0 without one."""
    while name not in known:
        above = os.path.dirname(name)
        if above == name:
            return 0
        name = above
    return len(name)


def is_probe() -> bool:
    """Whether a module of the standard library starts a program that it does not need."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_globals.get("__name__") in PROBES:
            return True
        frame = frame.f_back
    return False


def program_name(args: tuple[Any, ...]) -> str:
    first = args[0]
    if isinstance(first, (list, tuple)):
        first = first[0] if first else ""
    return os.fsdecode(first) if isinstance(first, (str, bytes)) else str(first)


def is_local(host: Any) -> bool:
    """Whether `host` is this machine, by its loopback address or its own name."""
    if not isinstance(host, (str, bytes)):
        return True
    name = os.fsdecode(host)
    return name in {"", "localhost", "::1", "0.0.0.0", os.uname().nodename} or name.startswith("127.")
