"""Measures MMLU: how often the right letter is likeliest after question and choices (see README.md)."""

from functools import partial

from mlrb_kit.score_stage import score_stage
from scorer_library.lm_eval.continuation import COLUMNS, question_trouble
from scorer_library.lm_eval.data import HubData, Row
from scorer_library.lm_eval.items import Item
from scorer_library.lm_eval.mean import mean_over_items
from scorer_library.lm_eval.measure import LmEval, lm_eval_measure
from scorer_library.lm_eval.run import Answer


def item_of(subject: str, at: int, _row: Row, answer: Answer) -> Item:
    credits = [outcome["acc"] for outcome in answer.outcomes]
    return Item(f"{subject}/{at}", subject, answer.likelihoods, credits, cluster=subject)


DATA = HubData("mmlu", "cais/mmlu", "test", "dev", lambda _: COLUMNS, question_trouble)

measure = partial(
    lm_eval_measure, LmEval(DATA, "mmlu/default", lambda subject: f"mmlu_{subject}", item_of, mean_over_items)
)

if __name__ == "__main__":
    score_stage(measure)
