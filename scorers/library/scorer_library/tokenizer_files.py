"""What a submission's files hold besides a tokenizer: rules that rewrite letters, and scored texts.

For a note in the verdict. Counts and names of files only: scored texts are private.
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tokenizers import decoders

from mlrb_kit.tokenizer_growth import steps_of
from scorer_library.kept_text import letters

PARTS = ("normalizer", "pre_tokenizer", "decoder")
CLASSES = re.compile(
    r"\{\d*,?\d*\}|\\[pP]\{[^}]*\}|\[:\w+:\]|\\.|\(\?<?[a-zA-Z]+[:>)]"
)  # letters that are no text
ALTERNATIVES = re.compile(r"[|()\n]+")
RUN = 24  # letters in a row that a string shares with a text, by which it holds the text
RUNS_MAX = 2**21  # of a file's runs are compared
SHORT = 12  # letters of a text of at least three words that a string may be


def tokenizer_finding(folder: Path, texts: Iterable[str]) -> dict[str, str]:
    found = [*rewriting(folder / "tokenizer.json"), *held(folder, set(texts))]
    passed = "no part of the tokenizer names letters, and no file holds a scored text"
    return {"answer": "fail" if found else "pass", "detail": "; ".join(found) or passed}


def rewriting(path: Path) -> Iterator[str]:
    whole = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    for part in PARTS if isinstance(whole, dict) else ():
        steps = list(steps_of(whole.get(part)))
        if named := sum(names_letters(step) for step in steps):
            yield f"{named} of {len(steps)} steps of its {part} replace, add or remove certain letters"


def names_letters(step: dict[str, Any]) -> bool:
    """Case, accents and Unicode's forms are no certain letters."""
    if step.get("type") not in ("Replace", "Prepend") and step.get("behavior") != "Removed":
        return False
    pattern = step.get("pattern")
    named = list(pattern.values()) if isinstance(pattern, dict) else []
    texts = strings([named, step.get("content"), step.get("prepend")])
    return any(letter.isalnum() for text in texts for letter in CLASSES.sub("", text))


def held(folder: Path, texts: set[str]) -> Iterator[str]:
    """How many of the texts each file holds."""
    flat = [(letters(text), len(text.split()) >= 3) for text in sorted(texts)]
    for path in sorted([*folder.glob("*.json"), *folder.glob("*.txt")]):
        content = path.read_text(encoding="utf-8", errors="replace")
        parts = strings(json.loads(content)) if path.suffix == ".json" else content.split("\n")
        long = (piece for part in parts if len(part) >= SHORT for piece in (part, *ALTERNATIVES.split(part)))
        whole = {letters(one) for part in long for one in (part, decoders.ByteLevel().decode([part]))}
        every = 1 + sum(map(len, whole)) // RUNS_MAX
        runs = {one[at : at + RUN] for one in whole for at in range(0, len(one) - RUN + 1, every)}
        count = sum(
            (short and len(text) >= SHORT and text in whole)
            or any(text[at : at + RUN] in runs for at in range(len(text) - RUN + 1 if runs else 0))
            for text, short in flat
        )
        if count:
            yield f"{path.name} holds letters of {count} of {len(flat)} scored texts"


def strings(value: Any) -> Iterator[str]:
    """The texts in a JSON value, names too."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            left += [*one, *one.values()]
        elif isinstance(one, list):
            left += one
