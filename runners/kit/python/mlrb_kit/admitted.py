"""Checks admission: a submission that was not admitted is rejected without being opened."""

import json

from mlrb_kit.rejected import Rejected
from mlrb_kit.stage import Stage


def check_admitted(stage: Stage) -> None:
    admission = json.loads(stage.input("admission").read_text(encoding="utf-8"))
    if not admission["admitted"]:
        reasons = "; ".join(reason["detail"] for reason in admission["reasons"])
        raise Rejected(f"not admitted: {reasons}")
