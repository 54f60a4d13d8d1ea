"""Measures the share of generated formal proofs that Lean 4 accepts (see README.md)."""

from functools import partial

from mlrb_kit.generate_measure import measure_generated
from mlrb_kit.lean_command import find_lean
from mlrb_kit.lean_score import lean_score
from mlrb_kit.score_stage import score_stage

measure = partial(measure_generated, partial(lean_score, faithful=False), ready=find_lean)

if __name__ == "__main__":
    score_stage(measure, reads="answers")
