"""Measures the reference models' bits of private documents and of matched public ones (ADR 48).

By hand: PYTHONPATH=runners/kit/python:scorers/library python pipelines/steps/reference_memorisation.py
    --input public=DIR --input private=DIR --input models=DIR --output memorisation=FILE
"""

from mlrb_kit.canonical import write_canonical
from mlrb_kit.stage import read_stage
from scorer_library.memorisation.compared_documents import has_private_documents
from scorer_library.memorisation.model_bits import reference_bits


def main() -> None:
    stage = read_stage()
    public, private, models = (stage.input(name) for name in ("public", "private", "models"))
    documents = has_private_documents(private)
    measured, reference = reference_bits(public, private, models) if documents else ([], None)
    found = {
        "formatVersion": 1,
        "privateDocuments": documents,
        "reference": reference,
        "models": measured,
    }
    write_canonical(stage.output("memorisation"), found)


if __name__ == "__main__":
    main()
