"""Scores the reference proofs, the nearest public formal proofs and empty texts in BLEU."""

from functools import partial

from bleu_score import bleu_score
from measure import measure
from mlrb_kit.anchors_stage import anchors_stage
from scorer_library.generation.anchors import generate_anchors

rows = partial(generate_anchors, lambda data, texts: bleu_score(data, texts)[0])

if __name__ == "__main__":
    anchors_stage(rows, measure, reads="answers")
