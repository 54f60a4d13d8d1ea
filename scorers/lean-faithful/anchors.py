"""Lets Lean check the reference proofs (the ceiling), the nearest public formal proofs and empty texts."""

from functools import partial

from measure import measure
from mlrb_kit.anchors_stage import anchors_stage
from scorer_library.generation.anchors import generate_anchors
from scorer_library.lean.score import lean_score

rows = partial(generate_anchors, lambda data, texts: lean_score(data, texts, faithful=True)[0])

if __name__ == "__main__":
    anchors_stage(rows, measure, reads="answers")
