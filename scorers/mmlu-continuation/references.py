"""Scores that need no question: chance, and always the shortest answer."""

from measure import measure
from mlrb_kit.references_stage import references_stage
from scorer_library.lm_eval.continuation_references import continuation_rows

if __name__ == "__main__":
    references_stage(continuation_rows, measure)
