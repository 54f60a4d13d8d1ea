"""A note on a tokenizer's files: steps that rewrite letters, and scored texts, which are only counted."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tokenizers import decoders

from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import blame
from mlrb_kit.tokenizer_growth import steps_of
from scorer_library.kept_text import letters

CLASSES = re.compile(r"\{[\d,]*+\}|\\[pP]\{[^}\\]*+\}|\[:\w+:\]|\\.|\(\?<?[a-zA-Z]+[:>)]")  # letters, no text
STRING = re.compile(
    r'"(?:[^"\\]|\\.?)*+(?:"|\Z)', re.DOTALL
)  # of JSON; one without an end reaches to the file's
ALTERNATIVES = re.compile(r"[|()\n]+")
RUN = 24  # letters in a row that a string shares with a text that it holds
RUNS_MAX = 2**21  # of a file's runs are compared
SHORT = 12  # letters of a text of at least three words, which a string may be


def tokenizer_finding(folder: Path, texts: set[str]) -> dict[str, str]:
    try:
        with blame("the tokenizer's files cannot be read"):
            found = [*rewriting(folder / "tokenizer.json"), *held(folder, texts)]
    except Rejected as rejected:
        return {"answer": "undecided", "detail": str(rejected)}
    passed = "no part of the tokenizer names letters, and no file holds a scored text"
    return {"answer": "fail" if found else "pass", "detail": "; ".join(found) or passed}


def rewriting(path: Path) -> Iterator[str]:
    whole = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    for part in ("normalizer", "pre_tokenizer", "decoder") if isinstance(whole, dict) else ():
        steps = list(steps_of(whole.get(part)))
        if named := sum(map(names_letters, steps)):
            yield f"{named} of {len(steps)} steps of its {part} replace, add or remove certain letters"


def names_letters(step: dict[str, Any]) -> bool:
    pattern = step.get("pattern")
    patterns = pattern.values() if isinstance(pattern, dict) else ()
    texts = [*patterns, step.get("content"), step.get("prepend")]
    named = any(map(str.isalnum, CLASSES.sub("", "".join(text for text in texts if isinstance(text, str)))))
    return named and (step.get("type") in ("Replace", "Prepend") or step.get("behavior") == "Removed")


def held(folder: Path, texts: set[str]) -> Iterator[str]:
    flat = [(letters(text), len(text.split()) >= 3) for text in sorted(texts)]
    for path in sorted([*folder.glob("*.json"), *folder.glob("*.txt")]):
        content = path.read_text(encoding="utf-8", errors="replace")
        quoted = [unquoted(one) for one in STRING.findall(content) if len(one) >= SHORT]
        parts = quoted if path.suffix == ".json" else content.split("\n")
        long = [one for part in parts for one in (part, *ALTERNATIVES.split(part)) if len(one) >= SHORT]
        whole = {letters(text) for one in long for text in (one, decoders.ByteLevel().decode([one]))}
        every = 1 + sum(map(len, whole)) // RUNS_MAX
        runs = {one[at : at + RUN] for one in whole for at in range(0, len(one) - RUN + 1, every)}
        count = sum(
            (short and len(text) >= SHORT and text in whole)
            or any(text[at : at + RUN] in runs for at in range(len(text) - RUN + 1 if runs else 0))
            for text, short in flat
        )
        if count:
            yield f"{path.name} holds letters of {count} of {len(flat)} scored texts"


def unquoted(text: str) -> str:
    """A text of JSON, also of a file that is none as a whole."""
    try:
        return json.loads(text, strict=False).encode(errors="replace").decode()
    except ValueError:
        return text
