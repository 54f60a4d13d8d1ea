"""The stage scripts of the two scorers of Lean 3: they differ in whether a text must be faithful."""

from functools import partial

from mlrb_kit.anchors_stage import anchors_stage
from mlrb_kit.not_measured import write_no_rows, write_not_measured
from mlrb_kit.score_stage import Measure, score_stage
from scorer_library.generation.anchors import generate_anchors
from scorer_library.generation.measure import measure_generated
from scorer_library.lean3.command import find_lean3, missing_command
from scorer_library.lean3.score import lean3_score


def measure_by_lean3(*, faithful: bool) -> Measure:
    return partial(measure_generated, partial(lean3_score, faithful=faithful), ready=find_lean3)


def score_by_lean3(*, faithful: bool) -> None:
    """measure.py, which is not measured where scorer.yaml names no command."""
    if reason := missing_command():
        write_not_measured(reason)
    else:
        score_stage(measure_by_lean3(faithful=faithful), reads="answers")


def anchors_by_lean3(*, faithful: bool) -> None:
    """anchors.py: the reference proofs (the ceiling), the nearest public formal proofs and empty texts."""
    rows = partial(generate_anchors, lambda data, texts: lean3_score(data, texts, faithful=faithful)[0])
    if reason := missing_command():
        write_no_rows(reason)
    else:
        anchors_stage(rows, measure_by_lean3(faithful=faithful), reads="answers")
