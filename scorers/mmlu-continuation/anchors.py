"""Scores that need no question: chance, and always the shortest answer."""

from measure import measure
from mlrb_kit.anchors_stage import anchors_stage
from scorer_library.lm_eval.continuation_anchors import continuation_rows

if __name__ == "__main__":
    anchors_stage(continuation_rows, measure)
