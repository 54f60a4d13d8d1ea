"""Scores the reference proofs, the nearest public formal proofs and empty texts in BLEU."""

from functools import partial

from bleu_score import bleu_score
from measure import measure
from mlrb_kit.references_stage import references_stage
from scorer_library.generation.references import generate_references

rows = partial(generate_references, lambda data, texts: bleu_score(data, texts)[0])

if __name__ == "__main__":
    references_stage(rows, measure, reads="answers")
