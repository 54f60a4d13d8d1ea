"""Measures how often the right answer's text is likeliest after MMLU's questions (see README.md)."""

from mlrb_kit.score_stage import score_stage
from scorer_library.lm_eval.continuation import continuation_measure

measure = continuation_measure()

if __name__ == "__main__":
    score_stage(measure)
