"""The texts of a task's public data, whatever the fields of its rows."""

from pathlib import Path
from typing import Any

from mlrb_kit.results import read_jsonl


def read_texts(path: Path) -> list[str]:
    """One text for each row of a public .jsonl file."""
    return [text_of(row) for row in read_jsonl(path)]


def text_of(row: dict[str, Any]) -> str:
    """The text of a row. An instruction has one line each for instruction, input and output."""
    for name in ("content", "text"):
        if name in row:
            return row[name]
    return "".join(f"{row[name]}\n" for name in ("instruction", "input", "output") if row[name] != "")
