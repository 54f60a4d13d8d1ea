"""Scores on SuperGLUE that need no text: the best constant answer of each task, and random choices."""

from collections.abc import Sequence
from pathlib import Path

from measure import measure
from mlrb_kit.references_stage import Row, references_stage
from scorer_library.lm_eval.data import read_hub_data
from scorer_library.lm_eval.items import Item, mean
from scorer_library.lm_eval.super_glue import DATA, credits_of
from task_score import task_baseline, task_score


def rows(_public: Path, private: Path) -> list[Row]:
    tasks = [
        [Item(f"{config}/{at}", config, [], credits_of(config, row)) for at, row in enumerate(found)]
        for config, found in read_hub_data(private, DATA).items()
    ]
    majority = "In each task the best of always the same choice and of drawing one"
    drawing = "Each choice of an item as often as the others"
    values = {
        "majority": (majority, mean([task_baseline(items) for items in tasks])),
        "chance": (drawing, mean([drawn(items) for items in tasks])),
    }
    return [
        {"name": name, "title": title, "kind": "guess", "value": value}
        for name, (title, value) in values.items()
    ]


def drawn(items: Sequence[Item]) -> float:
    return task_score(items, [[1 / len(item.credits)] * len(item.credits) for item in items])


if __name__ == "__main__":
    references_stage(rows, measure)
