"""Lets Lean 3 check the reference proofs (the ceiling), the nearest public formal proofs and empty texts."""

from functools import partial

from measure import measure
from mlrb_kit.not_measured import write_no_rows
from mlrb_kit.references_stage import references_stage
from scorer_library.generation.references import generate_references
from scorer_library.lean3.command import missing_command
from scorer_library.lean3.score import lean3_score

rows = partial(generate_references, lambda data, texts: lean3_score(data, texts)[0])

if __name__ == "__main__":
    if reason := missing_command():
        write_no_rows(reason)
    else:
        references_stage(rows, measure, reads="answers")
