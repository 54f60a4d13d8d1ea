"""Lets a unigram and a bigram model of the public text choose between the sentences of each pair."""

from pathlib import Path
from typing import Any

from measure import measure
from mlrb_kit.references_stage import Row, references_stage
from mlrb_kit.results import read_jsonl
from scorer_library.pair_rows import CHANCE, ngram_pair_rows


def rows(public: Path, private: Path) -> list[Row]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for pair in read_jsonl(private / "pairs.jsonl"):
        groups.setdefault(pair["UID"], []).append(pair)
    return [CHANCE, *ngram_pair_rows(public, list(groups.values()))]


if __name__ == "__main__":
    references_stage(rows, measure)
