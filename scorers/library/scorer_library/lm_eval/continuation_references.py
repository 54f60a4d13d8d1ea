"""Scores that need no question: chance, and always the shortest answer.

A sum of log-likelihoods falls with every token, so a model that knows nothing prefers short answers.
"""

from pathlib import Path

from mlrb_kit.references_stage import Row as ReferenceRow
from scorer_library.lm_eval.continuation import DATA
from scorer_library.lm_eval.data import Row, read_hub_data
from scorer_library.lm_eval.items import error_of_mean, mean


def continuation_rows(_public: Path, private: Path) -> list[ReferenceRow]:
    hits = [shortest(row) for found in read_hub_data(private, DATA).values() for row in found]
    return [
        {"name": "chance", "title": "Chance: one of four answers", "kind": "guess", "value": 0.25},
        {
            "name": "shortest",
            "title": "Always the answer of fewest bytes, equals shared",
            "kind": "guess",
            "value": mean(hits),
            "standardError": error_of_mean(hits),
        },
    ]


def shortest(row: Row) -> float:
    sizes = [len(choice.encode()) for choice in row["choices"]]
    least = [at for at, size in enumerate(sizes) if size == min(sizes)]
    return float(row["answer"] in least) / len(least)
