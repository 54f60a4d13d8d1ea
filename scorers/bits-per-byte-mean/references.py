"""Scores a unigram and a bigram of all public text on the held-out text, kind by kind."""

from pathlib import Path

from mean_of_kinds import mean_of_kinds
from measure import measure
from mlrb_kit.references_stage import Row, references_stage
from scorer_library.ngram_rows import ngram_rows
from scorer_library.public_texts import read_texts


def rows(public: Path, private: Path) -> list[Row]:
    texts = [text for path in sorted(public.glob("*.jsonl")) for text in read_texts(path)]
    return ngram_rows(texts, private, mean_of_kinds)


if __name__ == "__main__":
    references_stage(rows, measure)
