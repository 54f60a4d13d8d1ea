"""Reads how Lean 3 checks texts: `lean3` in the private data's settings.json.

imports (modules above every text), heartbeats (thousands of allocations), seconds and memoryBytes of
each process, and secondsAll, after which no further text is checked.
"""

import json
import re
from dataclasses import dataclass

from scorer_library.generation.items import MathData

MODULE = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*")


@dataclass(frozen=True)
class Lean3Settings:
    imports: tuple[str, ...]
    heartbeats: int
    seconds: float
    seconds_all: float  # of one score or one reference row
    memory_bytes: int


def read_lean3(data: MathData) -> Lean3Settings:
    """Raises ValueError where the data is not in Lean 3 or its settings are malformed: not measured."""
    whole = json.loads((data.lean.folder / "settings.json").read_text(encoding="utf-8"))
    given = whole.get("lean3")
    if not isinstance(given, dict):
        raise ValueError("settings.json has no lean3: this data is not in Lean 3, which is another measure")
    if bad := [name for name in given["imports"] if not MODULE.fullmatch(name)]:
        raise ValueError(f"settings.json: {bad[0]!r} is not the name of a module of Lean 3")
    limits = (given["heartbeats"], given["seconds"], given["secondsAll"], given["memoryBytes"])
    if any(not isinstance(limit, (int, float)) or limit <= 0 for limit in limits):
        raise ValueError("settings.json: a limit of lean3 is no positive number")
    heartbeats, seconds, seconds_all, memory_bytes = limits
    imports = tuple(given["imports"])
    return Lean3Settings(imports, int(heartbeats), float(seconds), float(seconds_all), int(memory_bytes))
