"""Measures the share of generated formal proofs that Lean 3 accepts (see README.md)."""

from functools import partial

from mlrb_kit.not_measured import write_not_measured
from mlrb_kit.score_stage import score_stage
from scorer_library.generation.measure import measure_generated
from scorer_library.lean3.command import find_lean3, missing_command
from scorer_library.lean3.score import lean3_score

measure = partial(measure_generated, lean3_score, ready=find_lean3)

if __name__ == "__main__":
    if reason := missing_command():
        write_not_measured(reason)
    else:
        score_stage(measure, reads="answers")
