"""Reads the given rows and keeps the last way to ask after each fact aside, to measure on."""

import json
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path


@dataclass(frozen=True)
class Row:
    question: str
    answer: str
    kind: str


def read_rows(path: Path) -> tuple[list[Row], list[Row]]:
    """The rows to train on and those to measure on."""
    with path.open(encoding="utf-8") as lines:
        read = [json.loads(line) for line in lines]
    rows = [Row(row["instruction"], row["response"], row["category"]) for row in read]
    facts = [list(found) for _, found in groupby(rows, key=lambda row: (row.kind, row.answer))]
    return [row for fact in facts for row in fact[:-1]], [fact[-1] for fact in facts]


def text_of(row: Row) -> str:
    """A question as the scorer writes it, up to where the answer begins."""
    return f"Question: {row.question}\nAnswer:"


def answer_of(row: Row) -> str:
    return f" {row.answer}"
