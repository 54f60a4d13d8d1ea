"""Measures the seconds of a submitted program's run (see README.md)."""

from functools import partial

from mlrb_kit.score_stage import score_stage
from scorer_library.programs.measure import measure_run, seconds

measure = partial(measure_run, seconds)

if __name__ == "__main__":
    score_stage(measure, reads="answers")
