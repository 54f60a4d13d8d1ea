"""Measures the mean of SuperGLUE's tasks as lm-eval ships them, and corrected (see README.md)."""

from functools import partial

from mean_score import mean_score
from mlrb_kit.score_stage import score_stage
from scorer_library.lm_eval.data import Row
from scorer_library.lm_eval.items import Item
from scorer_library.lm_eval.measure import LmEval, lm_eval_measure
from scorer_library.lm_eval.run import Answer, Outcome
from scorer_library.lm_eval.super_glue import DATA, cluster_of, task_of


def item_of(config: str, at: int, row: Row, answer: Answer) -> Item:
    credits = [credit(config, outcome) for outcome in answer.outcomes]
    return Item(f"{config}/{at}", config, answer.likelihoods, credits, cluster_of(config, at, row))


def credit(config: str, outcome: Outcome) -> float:
    """By lm-eval's own metrics. For cb, task_score computes F1 over all items from the same choices."""
    return (outcome["f1"] + outcome["em"]) / 2 if config == "record" else outcome["acc"]


measure = partial(lm_eval_measure, LmEval(DATA, "super_glue", task_of, item_of, mean_score))

if __name__ == "__main__":
    score_stage(measure)
