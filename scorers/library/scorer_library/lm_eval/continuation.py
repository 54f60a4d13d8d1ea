"""Four-choice questions, scored by the likelihood of the answer's text: lm-eval's mmlu_*_continuation.

Rows have the columns of cais/mmlu. A row may name the `fact` that it asks after. Questions about one fact are
not independent, so they are one cluster of the standard error.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from mlrb_kit.score_stage import Measure
from scorer_library.lm_eval.data import Columns, HubData, Row
from scorer_library.lm_eval.items import Item, mean
from scorer_library.lm_eval.mean import mean_over_items
from scorer_library.lm_eval.measure import LmEval, lm_eval_measure
from scorer_library.lm_eval.run import Answer

Scored = Callable[[Sequence[Item]], dict[str, Any]]

COLUMNS: Columns = {"question": "text", "subject": "text", "choices": "texts", "answer": "whole"}


def question_trouble(_subject: str, row: Row) -> str | None:
    if len(row["choices"]) != 4:
        return f"{len(row['choices'])} choices, expected 4"
    if not 0 <= row["answer"] < 4:
        return f"answer is {row['answer']}, expected 0 to 3"
    return None if row["question"].strip() else "the question is empty"


def trouble(subject: str, row: Row) -> str | None:
    if not all(choice.strip() for choice in row["choices"]):
        return "a choice is empty"  # its likelihood is undefined, and so is its likelihood by length
    return question_trouble(subject, row)


def item_of(subject: str, at: int, row: Row, answer: Answer) -> Item:
    credits = [outcome["acc"] for outcome in answer.outcomes]
    more = {"characters": [len(choice) for choice in row["choices"]]}
    cluster = f"{subject}/{row['fact']}" if "fact" in row else subject
    return Item(f"{subject}/{at}", subject, answer.likelihoods, credits, cluster=cluster, more=more)


def scored(items: Sequence[Item]) -> dict[str, Any]:
    """The mean over items. `accuracyByCharacter` is lm-eval's acc_norm of the same likelihoods."""
    found = mean_over_items(items)
    found["extra"]["accuracyByCharacter"] = mean([by_character(item) for item in items])
    return found


def by_character(item: Item) -> float:
    each = [
        likelihood / length
        for likelihood, length in zip(item.likelihoods, item.more["characters"], strict=True)
    ]
    return item.credits[each.index(max(each))]


DATA = HubData("mmlu", "cais/mmlu", "test", "dev", lambda _: COLUMNS, trouble)


def continuation_measure(scored: Scored = scored) -> Measure:
    """`scored` aggregates the items."""
    task_of = "mmlu_{}_continuation".format
    return partial(lm_eval_measure, LmEval(DATA, "mmlu/continuation", task_of, item_of, scored))
