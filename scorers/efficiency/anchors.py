"""What a model costs cannot be told from data alone: the rows are those of whole models."""

from measure import measure
from mlrb_kit.anchors_stage import anchors_stage

if __name__ == "__main__":
    anchors_stage(lambda _public, _private: [], measure)
