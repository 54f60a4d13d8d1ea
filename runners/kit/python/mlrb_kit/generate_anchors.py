"""Texts that need no model: rows that scores of math-reasoning are read against.

`reference`: the reference proofs themselves, so the ceiling. `copy-nearest`: the formal side of the public
item whose informal statement shares most words with the item's. `empty`: nothing.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mlrb_kit.anchors_stage import Row
from mlrb_kit.generate_items import MathData, read_items, read_math

WORD = re.compile(r"\w+")
TITLES = {
    "reference": "The reference proofs themselves: the ceiling",
    "copy-nearest": "The formal side of the nearest public item, by words in common",
    "empty": "Empty predictions",
}

Measure = Callable[[MathData, list[str]], dict[str, Any]]


def generate_anchors(measure: Measure, public: Path, private: Path) -> list[Row]:
    """`measure` gives value and standardError of the texts, one an item."""
    data = read_math(private)
    texts = {
        "reference": [item.formal_proof for item in data.items],
        "copy-nearest": copy_nearest(public, data),
        "empty": ["" for _ in data.items],
    }
    return [row(name, measure(data, given)) for name, given in texts.items()]


def row(name: str, found: dict[str, Any]) -> Row:
    value, error = found["value"], found["standardError"]
    return {"name": name, "title": TITLES[name], "value": value, "standardError": error}


def copy_nearest(public: Path, data: MathData) -> list[str]:
    """For each item the formal_proof of the public train.jsonl row with the highest F1 of the two sets of
    words, lower-cased; the earliest of equals."""
    rows = read_items(public / "train.jsonl")
    bags = [words(row.informal_statement) for row in rows]

    def nearest(bag: frozenset[str]) -> int:
        return max(
            range(len(rows)),
            key=lambda at: (2 * len(bag & bags[at]) / ((len(bag) + len(bags[at])) or 1), -at),
        )

    return [rows[nearest(words(item.informal_statement))].formal_proof for item in data.items]


def words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.lower()))
