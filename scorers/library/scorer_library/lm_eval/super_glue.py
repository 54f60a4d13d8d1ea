"""SuperGLUE's eight tasks as lm-eval ships them: their rows, and the credit of each choice."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scorer_library.lm_eval.data import Columns, HubData, Row


@dataclass(frozen=True)
class Task:
    name: str  # in lm-eval
    columns: Columns
    labels: int  # number of labels; 0 where the answer is not a label
    cluster: str | None = None  # the field of `idx` that rows on one text share


PAIR: Columns = {"premise": "text", "hypothesis": "text", "label": "whole"}

TASKS = {
    "boolq": Task("boolq", {"question": "text", "passage": "text", "label": "whole"}, 2),
    "cb": Task("cb", PAIR, 3),
    "copa": Task(
        "copa",
        {"premise": "text", "choice1": "text", "choice2": "text", "question": "text", "label": "whole"},
        2,
    ),
    "multirc": Task(
        "multirc",
        {"paragraph": "text", "question": "text", "answer": "text", "label": "whole"},
        2,
        cluster="paragraph",
    ),
    "record": Task(
        "record",
        {"passage": "text", "query": "text", "entities": "texts", "answers": "texts"},
        0,
        cluster="passage",
    ),
    "rte": Task("sglue_rte", PAIR, 2),
    "wic": Task(
        "wic",
        {"sentence1": "text", "sentence2": "text", "start1": "whole", "end1": "whole", "label": "whole"},
        2,
    ),
    "wsc.fixed": Task(
        "wsc",
        {
            "text": "text",
            "span1_text": "text",
            "span2_text": "text",
            "span2_index": "whole",
            "label": "whole",
        },
        2,
    ),
}


def task_of(config: str) -> str:
    """The config's task in lm-eval."""
    return TASKS[config].name


def trouble(config: str, row: Row) -> str | None:
    task = TASKS[config]
    if task.labels and not 0 <= row["label"] < task.labels:
        return f"label is {row['label']}, expected 0 to {task.labels - 1} (the hub hides the test split's)"
    if task.cluster is not None:
        idx = row.get("idx")
        if not isinstance(idx, dict) or not isinstance(idx.get(task.cluster), int):
            return f"no number idx.{task.cluster}, which identifies rows on one text"
    if config == "copa" and row["question"] not in ("cause", "effect"):
        return f"question is {row['question']!r}, expected 'cause' or 'effect'"
    if config == "copa" and not (row["choice1"] and row["choice2"]):
        return "a choice is empty"
    return None


def cluster_of(config: str, at: int, row: Row) -> str:
    field = TASKS[config].cluster
    return f"{config}/{at}" if field is None else f"{config}/{row['idx'][field]}"


def credits_of(config: str, row: Row) -> list[float]:
    """lm-eval's credit of each choice: 1 for the label's choice, and mean(F1, EM) for a ReCoRD entity."""
    if config != "record":
        return [float(at == row["label"]) for at in range(TASKS[config].labels)]
    entities, answers = sorted(set(row["entities"])), sorted(set(row["answers"]))
    return [entity_credit(entity, answers) for entity in entities]


def entity_credit(entity: str, answers: list[str]) -> float:
    from transformers.data.metrics import squad_metrics

    best: Callable[[Any], float] = lambda metric: max(metric(answer, entity) for answer in answers)  # noqa: E731
    return (best(squad_metrics.compute_f1) + best(squad_metrics.compute_exact)) / 2


DATA = HubData(
    "super_glue",
    "aps/super_glue",
    "validation",
    "train",
    lambda config: TASKS[config].columns if config in TASKS else None,
    trouble,
)
