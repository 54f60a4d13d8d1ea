"""What every scorer's anchors.py does around its rows: what its scores are read against.

Some rows come of the data alone (chance, an n-gram); the others are models that nobody trained for the task
(random weights, the base model unchanged), measured as a submission is. By hand:
    PYTHONPATH=runners/kit/python python scorers/NAME/anchors.py --input public=DIR --input private=DIR
        --input models=DIR --output rows=FILE
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mlrb_kit.canonical import write_canonical
from mlrb_kit.rejected import Rejected
from mlrb_kit.score_stage import Measure
from mlrb_kit.stage import read_stage

# name, title, value and, where it was measured, standardError
Row = dict[str, Any]

TITLES = "titles.json"  # beside the models' folders: the title of each, by its name


def anchors_stage(rows: Callable[[Path, Path], list[Row]], measure: Measure) -> None:
    """`rows`: those of the public data's folder and the private data's."""
    stage = read_stage()
    private, models = stage.input("private"), stage.input("models")
    titles = json.loads((models / TITLES).read_text(encoding="utf-8"))
    found = rows(stage.input("public"), private)
    for name, title in titles.items():
        found += model_row(name, title, measure, models / name, private)
    scorer = Path(sys.argv[0]).resolve().parent.name
    write_canonical(stage.output("rows"), {"formatVersion": 1, "scorer": scorer, "rows": found})


def model_row(name: str, title: str, measure: Measure, model: Path, private: Path) -> list[Row]:
    """None where the model is rejected, as one with random weights may be for its ties."""
    try:
        score, _ = measure(model, private)
        if isinstance(score, Rejected):
            raise score
    except Rejected as rejected:
        print(f"no row {name}: {rejected}")
        return []
    value, error = score["value"], score["standardError"]
    return [{"name": name, "title": title, "value": value, "standardError": error}]
