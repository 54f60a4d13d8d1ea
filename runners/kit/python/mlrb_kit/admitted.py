"""Checks admission: a submission that was not admitted is rejected without being opened."""

import json

from mlrb_kit.rejected import Rejected
from mlrb_kit.stage import Stage


class Undecided(Exception):
    """Fails the stage, so that the score is not measured: the submission is not known to be at fault."""

    def __init__(self, reasons: str) -> None:
        super().__init__(f"undecided: {reasons}\n  help: docs/sandbox.md, What a scorer reads")


def check_admitted(stage: Stage) -> None:
    admission = json.loads(stage.input("admission").read_text(encoding="utf-8"))
    if not admission["admitted"]:
        reasons = "; ".join(reason["detail"] for reason in admission["reasons"])
        raise Rejected(f"not admitted: {reasons}")
    if undecided := admission.get("undecided"):
        raise Undecided("; ".join(reason["detail"] for reason in undecided))
