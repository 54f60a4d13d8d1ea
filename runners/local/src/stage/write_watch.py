"""Marks files by what was written to them, by inotify. A stat cannot tell an edit that was undone, with its
time set back, from a new hard link, owner or mode.

Reads a JSON list of absolute paths a line, and answers each line with a list of their marks. While a
path keeps its mark, no program wrote to the file, moved it, or gave its name to another file. null:
the file cannot be watched. Not seen: writes through a memory map, and by another host. Of a folder,
only its own name and an entry of the same name count.
"""

# importing pathlib would take longer than an answer
# ruff: noqa: PTH206

import ctypes
import json
import os
import signal
import struct
import sys

IN_MODIFY, IN_MOVED_FROM, IN_MOVED_TO = 0x2, 0x40, 0x80
IN_CREATE, IN_DELETE, IN_MOVE_SELF = 0x100, 0x200, 0x800
OF_FILE = IN_MODIFY | IN_MOVE_SELF
OF_FOLDER = IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_MOVE_SELF

EVENT = struct.Struct("iIII")  # watch, mask, cookie, length of the name
LOST = (-1, b"")  # the event of a queue that overflowed

Seen = dict[tuple[int, bytes], int]  # watch and name in the folder → number of events


def main() -> None:
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)  # the runner handles them; its end closes the pipe
    libc = ctypes.CDLL(None)
    queue = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    seen: Seen = {}
    for line in sys.stdin.buffer:
        watches = []
        for path in map(os.fsencode, json.loads(line)):
            names = [os.path.split(name) for name in names_of(path)]
            file = libc.inotify_add_watch(queue, path, OF_FOLDER if os.path.isdir(path) else OF_FILE)
            folders = [(libc.inotify_add_watch(queue, folder, OF_FOLDER), name) for folder, name in names]
            watches.append((file, folders))
        count(queue, seen)
        print(json.dumps([mark(seen, *watch) for watch in watches]), flush=True)


def names_of(path: bytes) -> list[bytes]:
    """Returns the path, and where it is a link: every name that it leads to."""
    names = [path]
    while os.path.islink(names[-1]) and len(names) < 40:
        names.append(os.path.join(os.path.dirname(names[-1]), os.readlink(names[-1])))
    return names


def count(queue: int, seen: Seen) -> None:
    while True:
        try:
            events = os.read(queue, 1 << 16)
        except BlockingIOError:
            return
        at = 0
        while at < len(events):
            watch, _, _, length = EVENT.unpack_from(events, at)
            at += EVENT.size + length
            event = (watch, events[at - length : at].rstrip(b"\0"))
            seen[event] = seen.get(event, 0) + 1


def mark(seen: Seen, file: int, folders: list[tuple[int, bytes]]) -> str | None:
    if file < 0 or any(folder < 0 for folder, _ in folders):
        return None
    events = [(file, b""), LOST]
    events += [(file, name) for _, name in folders]  # fs.watch says the same of an entry with its folder's name
    for folder, name in folders:
        events += [(folder, name), (folder, b"")]
    return str([(watch, seen.get((watch, name), 0)) for watch, name in events])


if __name__ == "__main__":
    main()
