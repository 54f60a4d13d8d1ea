"""Upstream has no rows from data alone: the only rows are reference models, with the number it publishes."""

from measure import measure
from mlrb_kit.references_stage import references_stage

if __name__ == "__main__":
    references_stage(lambda _public, _private: [], measure, extra=("perplexityRunningMean",))
