"""Scores the reference proofs, the nearest public formal proofs and empty texts in ROUGE-L."""

from functools import partial

from measure import measure
from mlrb_kit.anchors_stage import anchors_stage
from rouge_score_mean import rouge_score_mean
from scorer_library.generation.anchors import generate_anchors

rows = partial(generate_anchors, lambda data, texts: rouge_score_mean(data, texts)[0])

if __name__ == "__main__":
    anchors_stage(rows, measure, reads="answers")
