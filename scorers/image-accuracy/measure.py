"""Measures the share of test images that a submitted program predicts rightly (see README.md)."""

from functools import partial

from mlrb_kit.score_stage import score_stage
from scorer_library.programs.measure import accuracy, measure_program

measure = partial(measure_program, accuracy)

if __name__ == "__main__":
    score_stage(measure, reads="answers")
