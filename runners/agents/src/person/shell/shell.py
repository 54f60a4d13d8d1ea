"""Runs a shell on a pty inside the walls, for a person outside.

The supervisor's socket carries JSON lines: {"in": base64} and {"size": [columns, rows]} to the shell;
{"out": base64}, {"command": text} and {"done": code} back.
"""

import base64
import fcntl
import json
import os
import pty
import re
import select
import socket
import struct
import sys
import termios
from pathlib import Path

HERE = Path(__file__).resolve().parent
MARK = re.compile(rb"\x1b\]633;([ED]);([^\x07]*)\x07")
MARK_MAX = 1 << 20


def main() -> None:
    desk = socket.socket(socket.AF_UNIX)
    desk.connect(str(HERE.parent / "terminal" / "sock"))
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execvp("bash", ["bash", "--noprofile", "--rcfile", str(HERE / "bashrc"), "-i"])
    carry(desk, terminal)
    _, status = os.waitpid(child, 0)
    # the status of its last command is no failure of the attempt
    sys.exit(0 if os.WIFEXITED(status) else 1)


def carry(desk: socket.socket, terminal: int) -> None:
    """Ends when the shell does. Without a supervisor there is nothing to carry: the walls end with it."""
    asked, shown, typed = b"", b"", b""
    while True:
        ready, writable, _ = select.select([desk, terminal], [terminal] if typed else [], [])
        # little at once: the shell may itself wait until its output is read
        if writable:
            typed = typed[os.write(terminal, typed[:512]) :]
        if desk in ready:
            got = desk.recv(1 << 16)
            if not got:
                return
            *lines, asked = (asked + got).split(b"\n")
            for line in lines:
                typed += obey(json.loads(line), terminal)
        if terminal in ready:
            try:
                got = os.read(terminal, 1 << 16)
            except OSError:  # the shell has ended
                got = b""
            shown = tell(desk, shown + got, is_last=not got)
            if not got:
                return


def obey(line: dict, terminal: int) -> bytes:
    """Returns what the person typed."""
    if "size" in line:
        columns, rows = line["size"]
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    return base64.b64decode(line.get("in", ""))


def tell(desk: socket.socket, shown: bytes, is_last: bool) -> bytes:
    """Sends output and marks in their order. Returns the beginning of a mark that is not complete."""

    def send(line: dict) -> None:
        desk.sendall(json.dumps(line).encode() + b"\n")

    def output(part: bytes) -> None:
        if part:
            send({"out": base64.b64encode(part).decode()})

    at = 0
    for mark in MARK.finditer(shown):
        output(shown[at : mark.start()])
        at = mark.end()
        kind, value = mark.groups()
        if kind == b"D":
            send({"done": int(value) if value.isdigit() else 1})
        else:
            # history numbers the command
            command = base64.b64decode(value).decode(errors="replace")
            send({"command": re.sub(r"^\s*\d+\*?\s+", "", command).rstrip("\n")})
    rest = shown[at:]
    begin = rest.rfind(b"\x1b")
    held = rest[begin:] if begin >= 0 and not is_last else b""
    if not b"\x1b]633;".startswith(held[:6]) or b"\x07" in held or len(held) > MARK_MAX:
        held = b""
    output(rest[: len(rest) - len(held)])
    return held


if __name__ == "__main__":
    main()
