"""Scores on MMLU that need no question: chance, and the best constant letter."""

from pathlib import Path

from measure import DATA, measure
from mlrb_kit.anchors_stage import Row, anchors_stage
from scorer_library.lm_eval.data import read_hub_data
from scorer_library.lm_eval.items import error_of_mean, mean

LETTERS = "ABCD"


def rows(_public: Path, private: Path) -> list[Row]:
    answers = [row["answer"] for found in read_hub_data(private, DATA).values() for row in found]
    letter = max(range(4), key=answers.count)  # the first of equals
    hits = [float(answer == letter) for answer in answers]
    return [
        {"name": "chance", "title": "Chance: one of four answers", "kind": "guess", "value": 0.25},
        {
            "name": "one-letter",
            "title": f"Always {LETTERS[letter]}, the letter that is right most often",
            "kind": "guess",
            "value": mean(hits),
            "standardError": error_of_mean(hits),
        },
    ]


if __name__ == "__main__":
    anchors_stage(rows, measure)
