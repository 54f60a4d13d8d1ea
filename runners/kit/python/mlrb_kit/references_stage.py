"""The common part of every scorer's references.py, which makes rows to compare scores with.

Some rows come from the data alone (chance, an n-gram); the others are models that were not trained for the
task (random weights, the unchanged base model), measured like submissions. A rejected one, e.g. random
weights with ties, has a row with the reason. By hand, with PYTHONPATH as docs/authors.md says:
    python scorers/NAME/references.py --input public=DIR --input private=DIR
        --input models=DIR --output rows=FILE
and `--input answers=DIR` for a scorer of generated texts (answers_stage.py).
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mlrb_kit.canonical import write_canonical
from mlrb_kit.reference_titles import read_titles
from mlrb_kit.rejected import Rejected
from mlrb_kit.score_stage import Measure
from mlrb_kit.stage import read_stage

# name, title, kind and a model's parameters; value and its standardError, or the reason under rejected
Row = dict[str, Any]


def references_stage(
    rows: Callable[[Path, Path], list[Row]],
    measure: Measure,
    *,
    reads: str = "models",
    extra: tuple[str, ...] = (),
) -> None:
    """`rows`: makes the rows of the folders of public and private data. `reads`: the input with a folder to
    measure for each model, by name. `extra`: numbers of the score that rows keep."""
    stage = read_stage()
    private = stage.input("private")
    found = rows(stage.input("public"), private)
    for name, about in read_titles(stage.input("models")).items():
        row = measured(measure, stage.input(reads) / name, private, extra)
        found.append({"name": name, **about, **row})
    scorer = Path(sys.argv[0]).resolve().parent.name
    write_canonical(stage.output("rows"), {"formatVersion": 1, "scorer": scorer, "rows": found})


def measured(measure: Measure, judged: Path, private: Path, extra: tuple[str, ...] = ()) -> Row:
    try:
        score, _ = measure(judged, private)
        if isinstance(score, Rejected):
            raise score
    except Rejected as rejected:
        return {"rejected": str(rejected)}
    kept = {"extra": {name: score["extra"][name] for name in extra}} if extra else {}
    return {"value": score["value"], "standardError": score["standardError"], **kept}
