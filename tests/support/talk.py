"""Runs a command on a pty and talks with it. Usage: talk.py SCRIPT COMMAND…

SCRIPT is a JSON list of [awaited, typed] pairs. `typed` is written once the output since the last pair
matches the regular expression `awaited`; null closes the terminal, as a window that is shut. Prints the
output. Exits as the command does, or with 99 after 120 s without a match.
"""

import json
import os
import pty
import re
import select
import sys
import time


def main() -> None:
    script = json.loads(sys.argv[1])
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(sys.argv[2], sys.argv[2:])
    seen = b""
    ends = time.monotonic() + 120
    while True:
        while script and re.search(script[0][0].encode(), seen):
            typed = script.pop(0)[1]
            seen = b""
            ends = time.monotonic() + 120
            if typed is None:
                os.close(terminal)
                sys.exit(0)
            os.write(terminal, typed.encode())
        if time.monotonic() > ends:
            print(f"\nnot seen: {script[:1]}")
            sys.exit(99)
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            got = os.read(terminal, 1 << 16)
        except OSError:
            break
        if not got:
            break
        seen += got
        sys.stdout.buffer.write(got)
        sys.stdout.flush()
    _, status = os.waitpid(child, 0)
    sys.exit(os.waitstatus_to_exitcode(status))


main()
