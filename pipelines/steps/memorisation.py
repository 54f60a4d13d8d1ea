"""Measures a submission's bits of private documents and of matched public ones, for the report (ADR 48).

By hand: PYTHONPATH=runners/kit/python:scorers/library python pipelines/steps/memorisation.py
    --input submission=DIR --input admission=FILE --input public=DIR --input private=DIR
    --output memorisation=FILE
"""

from mlrb_kit.admitted import Undecided, check_admitted
from mlrb_kit.canonical import write_canonical
from mlrb_kit.rejected import Rejected
from mlrb_kit.stage import Stage, read_stage
from scorer_library.memorisation.compared_documents import compared_documents, has_private_documents
from scorer_library.memorisation.model_bits import Model, submission_bits

NAME = "submission"


def main() -> None:
    stage = read_stage()
    documents = has_private_documents(stage.input("private"))
    models = [measured(stage)] if documents else []
    found = {"formatVersion": 1, "privateDocuments": documents, "reference": None, "models": models}
    write_canonical(stage.output("memorisation"), found)


def measured(stage: Stage) -> Model:
    try:
        check_admitted(stage)
    except (Rejected, Undecided) as why:
        return {"name": NAME, "kind": "rejected", "reason": str(why).partition("\n")[0]}
    documents = compared_documents(stage.input("public"), stage.input("private")).documents
    return submission_bits(NAME, stage.input("submission"), documents)


if __name__ == "__main__":
    main()
