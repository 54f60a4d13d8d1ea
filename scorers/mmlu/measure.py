"""Measures MMLU: which letter a model finds likeliest after each question and its choices (see README.md)."""

from functools import partial

from mlrb_kit.score_stage import score_stage
from scorer_library.lm_eval.data import Columns, HubData, Row
from scorer_library.lm_eval.items import Item
from scorer_library.lm_eval.mean import mean_over_items
from scorer_library.lm_eval.measure import LmEval, lm_eval_measure
from scorer_library.lm_eval.run import Answer

COLUMNS: Columns = {"question": "text", "subject": "text", "choices": "texts", "answer": "whole"}


def trouble(_subject: str, row: Row) -> str | None:
    if len(row["choices"]) != 4:
        return f"{len(row['choices'])} choices, expected 4"
    if not 0 <= row["answer"] < 4:
        return f"answer is {row['answer']}, expected 0 to 3"
    return None if row["question"].strip() else "the question is empty"


def item_of(subject: str, at: int, _row: Row, answer: Answer) -> Item:
    credits = [outcome["acc"] for outcome in answer.outcomes]
    return Item(f"{subject}/{at}", subject, answer.likelihoods, credits, cluster=subject)


DATA = HubData("mmlu", "cais/mmlu", "test", "dev", lambda _: COLUMNS, trouble)

measure = partial(
    lm_eval_measure, LmEval(DATA, "mmlu/default", lambda subject: f"mmlu_{subject}", item_of, mean_over_items)
)

if __name__ == "__main__":
    score_stage(measure)
