"""Checks admission: a submission that was not admitted is rejected without being opened."""

import json
from typing import Any

from mlrb_kit.rejected import Rejected
from mlrb_kit.stage import Stage


class Undecided(Exception):
    """Fails the stage, so that the score is not measured: the submission is not known to be at fault."""

    of_machine = True

    def __init__(self, reasons: str) -> None:
        self.reasons = reasons
        super().__init__(f"undecided: {reasons}\n  help: docs/security.md, What a scorer reads")


def check_admitted(stage: Stage) -> None:
    admission = read_admission(stage)
    if not admission["admitted"]:
        reasons = "; ".join(reason["detail"] for reason in admission["reasons"])
        raise Rejected(f"not admitted: {reasons}")
    if undecided := admission.get("undecided"):
        raise Undecided("; ".join(reason["detail"] for reason in undecided))


def check_look_ahead(stage: Stage) -> None:
    """Raises Rejected where looking ahead would help the scorer, unless the submission is causal."""
    kind = stage.params.get("scoredText")
    if not kind:
        return
    found = read_admission(stage).get("lookAhead")
    if found is None:
        raise SystemExit(
            f"{stage.name}: the admission does not say whether the submission looks ahead\n"
            "  help: let the stage need causality.admission, as in pipelines/full-benchmark.yaml"
        )
    if found["verdict"] == "looks-ahead":
        raise Rejected(f"looks ahead: {found['detail']}")
    if found["verdict"] == "undecided":
        raise Rejected(f"cannot be tested for look-ahead: {found['detail']}")
    for untested in found.get("untested", []):
        if untested["kind"] == kind:
            raise Rejected(f"cannot be tested for look-ahead: {untested['detail']}")


def read_admission(stage: Stage) -> dict[str, Any]:
    return json.loads(stage.input("admission").read_text(encoding="utf-8"))
