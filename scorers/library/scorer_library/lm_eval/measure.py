"""The shared part of each measure.py that scores with tasks shipped by lm-eval."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlrb_kit.score_stage import Measured, judged
from mlrb_kit.submission import load_submission
from scorer_library.lm_eval.data import HubData, Row, local_hub, read_hub_data
from scorer_library.lm_eval.items import Item, sample_of
from scorer_library.lm_eval.memory import check_memory, free_memory
from scorer_library.lm_eval.run import Answer, run_lm_eval


@dataclass(frozen=True)
class LmEval:
    data: HubData
    shipped: str  # the folder of lm-eval's task files, under its `tasks`
    task_of: Callable[[str], str]  # a config's task
    item_of: Callable[[str, int, Row, Answer], Item]  # config, row's place, row, answer
    scored: Callable[[Sequence[Item]], dict[str, Any]]  # fields of a scored score; may raise Rejected


def lm_eval_measure(how: LmEval, submission: Path, private: Path) -> Measured:
    rows = read_hub_data(private, how.data)
    check_memory(submission, free_memory())
    with local_hub(how.data, rows):
        model = load_submission(submission)
        run = run_lm_eval(model, how.data, rows, shipped=how.shipped, task_of=how.task_of)
    items = [
        how.item_of(config, at, row, run.answers[config][at])
        for config, found in rows.items()
        for at, row in enumerate(found)
    ]

    def score() -> dict[str, Any]:
        found = how.scored(items)
        return {**found, "items": len(items), "extra": {**found["extra"], "truncated": run.truncated}}

    return judged([sample_of(item) for item in items], score)
