"""Measures the reference models' bits of private documents and of matched public ones (ADR 48).

By hand: PYTHONPATH=runners/kit/python:scorers/library python pipelines/steps/anchor_memorisation.py
    --input public=DIR --input private=DIR --input models=DIR
    --output memorisation=FILE --param 'scorers=["bits-per-byte"]'
"""

from mlrb_kit.canonical import write_canonical
from mlrb_kit.stage import read_stage
from scorer_library.memorisation.model_bits import reference_bits, scores_documents


def main() -> None:
    stage = read_stage()
    documents = scores_documents(stage)
    inputs = [stage.input(name) for name in ("public", "private", "models")]
    models, reference = reference_bits(*inputs) if documents else ([], None)
    found = {"formatVersion": 1, "scoresDocuments": documents, "reference": reference, "models": models}
    write_canonical(stage.output("memorisation"), found)


if __name__ == "__main__":
    main()
