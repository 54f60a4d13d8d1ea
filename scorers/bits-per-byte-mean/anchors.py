"""Scores a unigram and a bigram of all public text on the held-out text, kind by kind."""

from pathlib import Path
from typing import Any

from mean_of_kinds import mean_of_kinds
from measure import measure
from mlrb_kit.anchors_stage import Row, anchors_stage
from mlrb_kit.results import read_jsonl
from scorer_library.ngram_rows import ngram_rows


def rows(public: Path, private: Path) -> list[Row]:
    texts = [text(row) for path in sorted(public.glob("*.jsonl")) for row in read_jsonl(path)]
    return ngram_rows(texts, private, mean_of_kinds)


def text(row: dict[str, Any]) -> str:
    """The text of a row. An instruction has one line each for instruction, input and output."""
    for name in ("content", "text"):
        if name in row:
            return row[name]
    return "".join(f"{row[name]}\n" for name in ("instruction", "input", "output") if row[name] != "")


if __name__ == "__main__":
    anchors_stage(rows, measure)
