"""Measures the peak memory of a submitted program's run (see README.md)."""

from functools import partial

from mlrb_kit.score_stage import score_stage
from scorer_library.programs.measure import measure_run, peak_bytes

measure = partial(measure_run, peak_bytes)

if __name__ == "__main__":
    score_stage(measure, reads="answers")
