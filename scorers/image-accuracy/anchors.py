"""Scores the most frequent label and the right answers."""

from measure import measure
from mlrb_kit.anchors_stage import anchors_stage
from scorer_library.programs.measure import accuracy_rows

if __name__ == "__main__":
    anchors_stage(accuracy_rows, measure, reads="answers")
