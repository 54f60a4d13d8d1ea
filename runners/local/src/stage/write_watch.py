"""Counts writes to files, and names that come to and go from folders, by inotify. A stat cannot tell
an edit that was undone, with its time set back, from a new hard link, owner or mode.

Reads a JSON list of absolute paths a line, and answers each line with a list of their events since
the start, by name; "" is the path itself: written, moved, or its name given to another file. null: it
cannot be watched. Not seen: writes through a memory map, or by another host.
"""

# importing pathlib would take longer than an answer
# ruff: noqa: PTH112

import ctypes
import json
import os
import struct
import sys
from collections import Counter, defaultdict

IN_MODIFY, IN_MOVED, IN_CREATE, IN_DELETE, IN_MOVE_SELF = 0x2, 0x40 | 0x80, 0x100, 0x200, 0x800
OF_FILE = IN_MODIFY | IN_MOVE_SELF
OF_FOLDER = IN_MOVED | IN_CREATE | IN_DELETE | IN_MOVE_SELF
EVENT = struct.Struct("iIII")  # watch, mask, cookie, length of the name
LOST = -1  # the watch of an event that says that the queue overflowed

Events = defaultdict[int, Counter[str]]  # watch → name → number


def main() -> None:
    libc = ctypes.CDLL(None)
    queue = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    events: Events = defaultdict(Counter)

    def watch(path: str, mask: int) -> int:
        return libc.inotify_add_watch(queue, os.fsencode(path), mask)

    for line in sys.stdin:
        watches = []
        for path in json.loads(line):
            own = watch(path, OF_FOLDER if os.path.isdir(path) else OF_FILE)
            names = map(os.path.split, [path, os.path.realpath(path)])  # of a link, also its target
            watches.append((own, [(watch(above, OF_FOLDER), name) for above, name in names]))
        collect(queue, events)
        print(json.dumps([answer(events, *one) for one in watches]), flush=True)


def collect(queue: int, events: Events) -> None:
    while True:
        try:
            data = os.read(queue, 1 << 16)
        except BlockingIOError:
            return
        while data:
            watch, _, _, length = EVENT.unpack_from(data)
            name, data = data[EVENT.size : EVENT.size + length], data[EVENT.size + length :]
            events[watch][os.fsdecode(name.rstrip(b"\0"))] += 1


def answer(events: Events, own: int, names: list[tuple[int, str]]) -> dict[str, object] | None:
    if own < 0 or any(above < 0 for above, _ in names):
        return None
    itself = [(above, events[above][name], events[above][""]) for above, name in names]
    return {**events[own], "": str([own, events[own][""], events[LOST][""], *itself])}


if __name__ == "__main__":
    main()
