"""Measures accuracy squared over minutes (see README.md)."""

from functools import partial

from mlrb_kit.score_stage import score_stage
from scorer_library.programs.measure import measure_program, time_weighted

measure = partial(measure_program, time_weighted)

if __name__ == "__main__":
    score_stage(measure, reads="answers")
