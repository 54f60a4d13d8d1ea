"""Rows that choose between two sentences without grammar: chance, length, n-grams of the public text."""

from pathlib import Path

from measure import DATA, measure
from mlrb_kit.references_stage import Row, references_stage
from scorer_library.lm_eval.data import read_hub_data
from scorer_library.pair_rows import CHANCE, ngram_pair_rows, pair_row


def rows(public: Path, private: Path) -> list[Row]:
    groups = list(read_hub_data(private, DATA).values())
    shorter = "The sentence of fewer bytes; equals count half"
    found = [CHANCE, pair_row("shorter", shorter, "guess", groups, lambda text: len(text.encode()))]
    if (public / "train.jsonl").is_file():  # public data of some tasks is not plain text
        found += ngram_pair_rows(public, groups)
    return found


if __name__ == "__main__":
    references_stage(rows, measure)
