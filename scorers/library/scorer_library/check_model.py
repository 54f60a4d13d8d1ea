"""Checks of a clean folder that need its model: one load, the model, look-ahead on public text."""

import json
import math
import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

from mlrb_kit.admitted import Undecided
from mlrb_kit.load_check import check_load, held_bytes
from mlrb_kit.random_gpt2 import write_control
from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import load_submission
from scorer_library.causality.judge_causality import detail_of, measure_look_ahead
from scorer_library.causality.scored_texts import ScoredText
from scorer_library.trial_load import load
from scorer_library.windows import windows

CUTS = 64
TEXTS = 64
FILE_BYTES_MAX = 2**20  # of each file of public data
WORDS_MIN = 8  # of a text: a name or a label is none

# takes a check, its answer (pass, fail or undecided), and the detail
Answer = Callable[[str, str, str], None]


def limit_memory(more: float) -> None:
    """Of this process, to `more` bytes besides what it holds: taking too much would end the attempt."""
    if more < math.inf:
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (held_bytes() + int(more), hard))


def check_model(folder: Path, public: Path, answer: Answer, memory: float) -> None:
    """Each check only after the one before it passed: a scorer would stop there too."""
    try:
        check_load(folder, load, write_control, memory)
    except Rejected as rejected:
        answer("load", "fail", str(rejected))
        return
    except Undecided as undecided:
        answer("load", "undecided", undecided.reasons)
        return
    except RuntimeError as error:  # the machine's fault, not the submission's
        answer("load", "undecided", str(error))
        return
    answer("load", "pass", "it loads within its limits of memory and time")
    try:
        submission = load_submission(folder)
    except Rejected as rejected:
        answer("model", "fail", str(rejected))
        return
    answer("model", "pass", "model and tokenizer are complete and fit each other")
    texts = public_texts(public)
    if not texts:
        answer("look-ahead", "undecided", "the public data holds no JSONL file with texts to try")
        return
    try:
        found = measure_look_ahead(submission, texts, os.urandom(32), CUTS)
    except Rejected as rejected:
        answer("look-ahead", "fail", f"the submission fails on public text: {rejected}")
        return
    answer("look-ahead", "fail" if found.looks_ahead() else "pass", detail_of(found))


def public_texts(folder: Path) -> list[ScoredText]:
    """At most TEXTS windows of the JSONL files in `folder`, the same number from each file."""
    files = sorted(folder.rglob("*.jsonl"))
    texts: list[ScoredText] = []
    for path in files:
        each = -(-TEXTS // len(files))
        for at, text in zip(range(each), texts_of(path), strict=False):
            texts.append(ScoredText(f"{path.name}/{at}", "", windows(text)[0]))
    return texts[:TEXTS]


def texts_of(path: Path) -> Iterator[str]:
    """The longest text of each line that has one of enough words."""
    with path.open("rb") as file:
        lines = file.read(FILE_BYTES_MAX).split(b"\n")
    for line in lines:
        try:
            row = json.loads(line)
        except ValueError:  # the last line may be cut
            continue
        values = row.values() if isinstance(row, dict) else ()
        texts = [value for value in values if isinstance(value, str) and len(value.split()) >= WORDS_MIN]
        if texts:
            yield max(texts, key=len)
