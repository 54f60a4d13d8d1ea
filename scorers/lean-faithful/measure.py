"""Measures the share of proofs that Lean 4 accepts and that state the reference theorem (see README.md)."""

from functools import partial

from mlrb_kit.score_stage import score_stage
from scorer_library.generation.measure import measure_generated
from scorer_library.lean.command import find_lean
from scorer_library.lean.score import lean_score

measure = partial(measure_generated, partial(lean_score, faithful=True), ready=find_lean)

if __name__ == "__main__":
    score_stage(measure, reads="answers")
