"""Rows to compare math-reasoning's scores with, from texts that need no model.

`gold-proofs`: the ceiling. `slot-filling`: the nearest public proof with the item's own
words (fill_slots.py). `copy-nearest`: the formal side of the public item whose informal statement shares most
words with the item's. `empty`: empty texts.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mlrb_kit.references_stage import Row
from scorer_library.generation.fill_slots import fill_slots
from scorer_library.generation.items import Item, MathData, read_items, read_math

WORD = re.compile(r"\w+")
TITLES = {
    "gold-proofs": "The reference proofs themselves: the ceiling",
    "slot-filling": "The nearest public proof with the item's own words in their places, without a model",
    "copy-nearest": "The formal side of the nearest public item, by words in common",
    "empty": "Empty predictions",
}
KINDS = {
    "gold-proofs": "answers",
    "slot-filling": "retrieval",
    "copy-nearest": "retrieval",
    "empty": "guess",
}

Measure = Callable[[MathData, list[str]], dict[str, Any]]


def generate_references(measure: Measure, public: Path, private: Path) -> list[Row]:
    """`measure` returns value and standardError of the texts, one for each item."""
    data = read_math(private)
    known = read_items(public / "train.jsonl")
    texts = {
        "gold-proofs": [item.formal_proof for item in data.items],
        "slot-filling": fill_slots(known, data.items),
        "copy-nearest": copy_nearest(known, data.items),
        "empty": ["" for _ in data.items],
    }
    return [row(name, measure(data, given)) for name, given in texts.items()]


def row(name: str, found: dict[str, Any]) -> Row:
    value, error = found["value"], found["standardError"]
    about = {"name": name, "title": TITLES[name], "kind": KINDS[name]}
    return {**about, "value": value, "standardError": error}


def copy_nearest(public: Sequence[Item], items: Sequence[Item]) -> list[str]:
    """For each item, the formal_proof of the public item with the highest F1 of the two sets of lower-cased
    words; the first of equals."""
    bags = [words(item.informal_statement) for item in public]

    def nearest(bag: frozenset[str]) -> int:
        return max(
            range(len(public)),
            key=lambda at: (2 * len(bag & bags[at]) / ((len(bag) + len(bags[at])) or 1), -at),
        )

    return [public[nearest(words(item.informal_statement))].formal_proof for item in items]


def words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.lower()))
