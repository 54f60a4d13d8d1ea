"""Measures corpus BLEU of the formal proofs that a submission generates (see README.md)."""

from functools import partial

from bleu_score import bleu_score
from mlrb_kit.score_stage import score_stage
from scorer_library.generation.measure import measure_generated

measure = partial(measure_generated, bleu_score)

if __name__ == "__main__":
    score_stage(measure, reads="answers")
