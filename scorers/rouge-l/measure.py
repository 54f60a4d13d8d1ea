"""Measures ROUGE-L F1 of the formal proofs that a submission generates (see README.md)."""

from functools import partial

from mlrb_kit.score_stage import score_stage
from rouge_score_mean import rouge_score_mean
from scorer_library.generation.measure import measure_generated

measure = partial(measure_generated, rouge_score_mean)

if __name__ == "__main__":
    score_stage(measure, reads="answers")
