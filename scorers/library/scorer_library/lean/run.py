"""Runs Lean once on one file, in a separate process with limits on time, memory and written bytes."""

import contextlib
import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scorer_library.lean.command import LeanCommand

POLL_SECONDS = 0.02
FILE_BYTES_MAX = 64 * 2**20  # of each written file, Lean's messages included
PASSED_ON = (
    "PATH",
    "HOME",
    "LANG",
    "ELAN_HOME",
    "ELAN_TOOLCHAIN",
    "LEAN_SYSROOT",
    "LD_LIBRARY_PATH",
    "TMPDIR",
)


@dataclass(frozen=True)
class LeanLimits:
    heartbeats: int  # Lean's own measure of work: the only limit with the same effect on every machine
    seconds: float
    memory_bytes: int

    def rules(self) -> list[str]:
        """For the launcher (launch.py)."""
        return [f"--cpu-seconds={int(self.seconds) + 10}", f"--file-bytes={FILE_BYTES_MAX}"]


@dataclass(frozen=True)
class LeanRun:
    ended: str  # "exit", "time", "memory" or "crash"
    status: int  # exit status, or minus the signal
    messages: tuple[dict[str, Any], ...]  # Lean's, one for each line of --json
    output: str  # all other output

    @property
    def clean(self) -> bool:
        """Lean ended by itself and without any error."""
        errors = any(message.get("severity") == "error" for message in self.messages)
        return self.ended == "exit" and self.status == 0 and not errors


def run_lean(
    command: LeanCommand, file: Path, *, module: Path | None, search: Path, limits: LeanLimits
) -> LeanRun:
    """Checks `file` and writes the compiled module to `module`. Imports come from `search`."""
    flags = ["--json", "-j1", f"-DmaxHeartbeats={limits.heartbeats}", f"-M{limits.memory_bytes // 2**20}"]
    lean = [*flags, *(["-o", str(module)] if module else []), str(file)]
    rules = limits.rules()
    if command.mapped_bytes is not None:
        rules.append(f"--address-bytes={command.mapped_bytes + limits.memory_bytes}")
    env = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return run_limited([*command.start, *rules, "--", *lean], file, {**env, "LEAN_PATH": str(search)}, limits)


def run_limited(words: list[str], file: Path, env: dict[str, str], limits: LeanLimits) -> LeanRun:
    """Runs `words`, which check `file`, in its folder."""
    printed = file.with_suffix(".out")
    with printed.open("wb") as output:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=file.parent,
            env=env,
            start_new_session=True,
        )
        ended = watch(process, limits)
    messages, rest = read_messages(printed)
    if ended == "exit" and process.returncode < 0:
        ended = "time" if process.returncode == -signal.SIGXCPU else "crash"
    return LeanRun(ended, process.returncode, messages, rest)


def watch(process: "subprocess.Popen[bytes]", limits: LeanLimits) -> str:
    """Waits for the end or a limit, then kills the rest of the process group."""
    deadline = time.monotonic() + limits.seconds
    ended = "exit"
    try:
        while process.poll() is None:
            if time.monotonic() > deadline:
                ended = "time"
                break
            if group_bytes(process.pid) > limits.memory_bytes:
                ended = "memory"
                break
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(POLL_SECONDS)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return ended


def group_bytes(group: int) -> int:
    """Resident memory of a process group; 0 on systems without /proc."""
    total = 0
    with contextlib.suppress(OSError):
        for entry in os.scandir("/proc"):
            if not entry.name.isdigit():
                continue
            with contextlib.suppress(OSError, ValueError, IndexError):
                fields = Path(entry.path, "stat").read_text().rpartition(")")[2].split()
                if int(fields[2]) == group:
                    total += int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
    return total


def read_messages(printed: Path) -> tuple[tuple[dict[str, Any], ...], str]:
    messages, rest = [], []
    for line in printed.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if isinstance(message, dict) and "severity" in message:
            messages.append(message)
        else:
            rest.append(line)
    return tuple(messages), "\n".join(rest)
