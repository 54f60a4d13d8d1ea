"""Costs need a program, so the only rows are reference models."""

from measure import measure
from mlrb_kit.anchors_stage import anchors_stage

if __name__ == "__main__":
    anchors_stage(lambda _public, _private: [], measure, reads="answers")
