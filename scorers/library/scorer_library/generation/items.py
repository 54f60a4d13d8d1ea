"""Reads the private data of math-reasoning: items, and settings for generation and checking.

Layout (a folder `math` in the private data):
  test.jsonl      one item a line, in the hub's fields: name, informal_statement, informal_proof,
                  formal_proof (statement and proof, as one `theorem`); and the optional field `group`
  settings.json   formatVersion 1; generation: maxNewTokens, secondsPerItem (null: tokens only);
                  lean: language, prelude, modules, imports, preamble, heartbeats, seconds, memoryBytes
  NAME.lean       for each of lean.modules, compiled in that order and then imported
Errors in these files are the data stage's fault: they raise an exception, so the score is not measured.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlrb_kit.results import read_jsonl

FIELDS = ("name", "informal_statement", "informal_proof", "formal_proof")
NEW_TOKENS_MAX = 1024
MODULE = re.compile(r"[A-Z][A-Za-z0-9]*(?:\.[A-Z][A-Za-z0-9]*)*")


@dataclass(frozen=True)
class Item:
    name: str
    group: str
    informal_statement: str
    informal_proof: str
    formal_proof: str


@dataclass(frozen=True)
class GenerationSettings:
    new_tokens_max: int
    seconds_max: float | None  # per item; None limits tokens only, so that results are repeatable


@dataclass(frozen=True)
class LeanSettings:
    folder: Path  # holds the modules' sources
    prelude: bool  # without Lean's own Init
    modules: tuple[str, ...]
    imports: tuple[str, ...]
    preamble: str  # after the imports, e.g. `open Nat`
    heartbeats: int
    seconds: float
    memory_bytes: int


@dataclass(frozen=True)
class MathData:
    items: list[Item]
    generation: GenerationSettings
    lean: LeanSettings


def read_math(private: Path) -> MathData:
    folder = private / "math"
    settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    if settings["formatVersion"] != 1:
        raise ValueError(f"settings.json of format {settings['formatVersion']}; this scorer reads format 1")
    items = read_items(folder / "test.jsonl")
    return MathData(items, read_generation(settings["generation"]), read_lean(folder, settings["lean"]))


def read_items(path: Path) -> list[Item]:
    """Rows in the hub's fields. Raises ValueError for an empty file, an empty field or a repeated name."""
    rows = read_jsonl(path)
    if not rows:
        raise ValueError(f"{path.name} is empty: the data stage is at fault, not the submission")
    for at, row in enumerate(rows):
        if bad := [name for name in FIELDS if not isinstance(row.get(name), str)]:
            raise ValueError(f"{path.name}:{at + 1}: no text in {', '.join(bad)}")
        if not row["name"] or not row["informal_statement"].strip() or not row["formal_proof"].strip():
            raise ValueError(f"{path.name}:{at + 1}: a name, statement or formal proof is empty")
    items = [
        Item(**{"group": "all", **{key: row[key] for key in row if key in (*FIELDS, "group")}})
        for row in rows
    ]
    if len({item.name for item in items}) != len(items):
        raise ValueError(f"{path.name}: a name occurs twice")
    return items


def read_generation(given: dict[str, Any]) -> GenerationSettings:
    tokens, seconds = given["maxNewTokens"], given["secondsPerItem"]
    if not isinstance(tokens, int) or not 1 <= tokens <= NEW_TOKENS_MAX:
        raise ValueError(f"settings.json: maxNewTokens is {tokens}; at most {NEW_TOKENS_MAX}")
    if seconds is not None and not 0 < seconds <= 3600:
        raise ValueError(f"settings.json: secondsPerItem is {seconds}")
    return GenerationSettings(tokens, seconds)


def read_lean(folder: Path, given: dict[str, Any]) -> LeanSettings:
    if given["language"] != "lean4":
        raise ValueError(
            f"settings.json: language is {given['language']}; only lean4 can be checked, and Lean 3 "
            "and Lean 4 are different measures"
        )
    for name in (*given["modules"], *given["imports"]):
        if not MODULE.fullmatch(name):
            raise ValueError(f"settings.json: {name!r} is not the name of a module")
    limits = (given["heartbeats"], given["seconds"], given["memoryBytes"])
    if any(not isinstance(limit, (int, float)) or limit <= 0 for limit in limits):
        raise ValueError("settings.json: heartbeats, seconds and memoryBytes are positive numbers")
    return LeanSettings(
        folder,
        bool(given["prelude"]),
        tuple(given["modules"]),
        tuple(given["imports"]),
        given["preamble"],
        int(given["heartbeats"]),
        float(given["seconds"]),
        int(given["memoryBytes"]),
    )
