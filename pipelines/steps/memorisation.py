"""Measures a submission's bits of private documents and of matched public ones, for the report (ADR 48).

By hand: PYTHONPATH=runners/kit/python:scorers/library python pipelines/steps/memorisation.py
    --input submission=DIR --input admission=FILE --input public=DIR --input private=DIR
    --output memorisation=FILE
"""

from pathlib import Path

from mlrb_kit.admitted import Undecided, check_admitted
from mlrb_kit.canonical import write_canonical
from mlrb_kit.guarded import fault_of
from mlrb_kit.rejected import Rejected
from mlrb_kit.stage import read_stage
from scorer_library.memorisation.compared_documents import compared_documents, has_private_documents
from scorer_library.memorisation.model_bits import Model, submission_bits

NAME = "submission"


def main() -> None:
    stage = read_stage()
    public, private = stage.input("public"), stage.input("private")

    def write(documents: bool, *models: Model) -> None:
        found = {"formatVersion": 1, "privateDocuments": documents, "reference": None, "models": [*models]}
        write_canonical(stage.output("memorisation"), found)

    def act(folder: Path) -> None:
        found = submission_bits(NAME, folder, compared_documents(public, private).documents)
        write(True, found)
        if found["kind"] == "rejected":
            raise Rejected(found["reason"])

    if not has_private_documents(private):
        write(False)
        return
    try:
        check_admitted(stage)
        if fault := fault_of(stage, act, stage.input("submission")):
            raise Rejected(fault)
    except (Rejected, Undecided) as why:
        write(True, {"name": NAME, "kind": "rejected", "reason": str(why).partition("\n")[0]})


if __name__ == "__main__":
    main()
