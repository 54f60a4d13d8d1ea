"""Lets Lean check the reference proofs (the ceiling), the nearest public formal proofs and empty texts."""

from functools import partial

from measure import measure
from mlrb_kit.references_stage import references_stage
from scorer_library.generation.references import generate_references
from scorer_library.lean.score import lean_score

rows = partial(generate_references, lambda data, texts: lean_score(data, texts, faithful=False)[0])

if __name__ == "__main__":
    references_stage(rows, measure, reads="answers")
