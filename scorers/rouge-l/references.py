"""Scores the reference proofs, the nearest public formal proofs and empty texts in ROUGE-L."""

from functools import partial

from measure import measure
from mlrb_kit.references_stage import references_stage
from rouge_score_mean import rouge_score_mean
from scorer_library.generation.references import generate_references

rows = partial(generate_references, lambda data, texts: rouge_score_mean(data, texts)[0])

if __name__ == "__main__":
    references_stage(rows, measure, reads="answers")
