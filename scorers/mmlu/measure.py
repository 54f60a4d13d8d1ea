"""Measures MMLU: how often the right letter is likeliest after question and choices (see README.md)."""

from functools import partial

from mlrb_kit.score_stage import score_stage
from scorer_library.lm_eval.letters import BY_LETTER
from scorer_library.lm_eval.measure import lm_eval_measure

measure = partial(lm_eval_measure, BY_LETTER)

if __name__ == "__main__":
    score_stage(measure)
