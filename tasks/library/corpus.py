"""Reads a corpus of rows, and keeps a part of it out of training to measure on."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DEV_EVERY = 25  # every 25th text is kept out of training


@dataclass(frozen=True)
class Corpus:
    name: str  # as provenance.json calls it
    train: list[str]
    dev: list[str]


def read_corpus(name: str, path: Path, text: Callable[[dict[str, Any]], str], every: int = 1) -> Corpus:
    """`path` holds one JSON object a line; `text` makes a row's text of it.

    With `every` above 1, one in so many texts is trained on: a short budget never comes round to more, and to
    learn a tokenizer from all and to encode them takes as long as the training.
    """
    with path.open(encoding="utf-8") as lines:
        texts = [text(json.loads(line)) for line in lines]
    train = [text for at, text in enumerate(texts) if at % DEV_EVERY != DEV_EVERY - 1]
    return Corpus(name, train[::every], texts[DEV_EVERY - 1 :: DEV_EVERY])
