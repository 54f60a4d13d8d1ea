"""Runs a scorer's measure.py like its stage, and notes its start and the time and memory of `measure`.

For the bench (scores.ts), which attributes all other time to the runner. With the parameter `batch` the
script only reads one batch of that shape with the submission, to measure the memory of that.
"""

import json
import runpy
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BEGUN = time.time()

from mlrb_kit import score_stage as kit  # noqa: E402 (the clock first)
from mlrb_kit.score_stage import Measure, Measured  # noqa: E402
from mlrb_kit.stage import Stage, read_stage  # noqa: E402
from mlrb_kit.submission import load_submission  # noqa: E402
from scorer_library.costs.memory import peak_bytes, restart_peak  # noqa: E402
from scorer_library.costs.memory_peak import touch  # noqa: E402


def main() -> None:
    stage = read_stage()
    if "batch" in stage.params:
        note(stage, read_batch(stage.input("submission"), *stage.param("batch")))
    else:
        run_scorer(stage)


def run_scorer(stage: Stage) -> None:
    script = Path(stage.param("measure")).resolve()
    score_stage = kit.score_stage

    def noted(measure: Measure, **reads: str) -> None:
        def measured(judged: Path, private: Path) -> Measured:
            with widest_batch(on="torch" in sys.modules) as shape:
                found, numbers = observed(lambda: measure(judged, private))
            note(stage, {**numbers, "batch": shape})
            return found

        score_stage(measured, **reads)

    kit.score_stage = noted
    sys.argv[0] = str(script)
    sys.path[0] = str(script.parent)
    runpy.run_path(str(script), run_name="__main__")


def read_batch(folder: Path, rows: int, tokens: int) -> dict[str, Any]:
    """Time and memory to read `rows` of `tokens` with the loaded model, log-softmax included."""
    import torch

    submission = load_submission(folder)
    touch(submission.model)
    ids = torch.arange(rows * tokens).reshape(rows, tokens) % submission.vocabulary
    kept = {*submission.model.parameters(), *submission.model.buffers()}
    size = sum(tensor.numel() * tensor.element_size() for tensor in kept)
    with torch.inference_mode():
        numbers = observed(lambda: torch.log_softmax(submission.model(ids).logits.float(), dim=-1))[1]
    return {**numbers, "batch": [rows, tokens], "modelBytes": size}


def observed(act: Callable[[], Any]) -> tuple[Any, dict[str, Any]]:
    before, begin = restart_peak(), time.perf_counter()
    found = act()
    seconds = time.perf_counter() - begin
    return found, {"begun": BEGUN, "computeSeconds": seconds, "heldBytes": peak_bytes() - before}


@contextmanager
def widest_batch(*, on: bool) -> Iterator[list[int]]:
    """Rows and tokens of the largest embedded input. A fresh process is not observed."""
    widest = [0, 0]
    if on:
        from torch.nn import functional

        embedding = functional.embedding

        def noting(ids: Any, *others: Any, **named: Any) -> Any:
            if ids.dim() == 2 and ids.numel() > widest[0] * widest[1]:
                widest[:] = ids.shape
            return embedding(ids, *others, **named)

        functional.embedding = noting
    yield widest


def note(stage: Stage, numbers: dict[str, Any]) -> None:
    """Prints a line for the bench: a stage may write its log and its outputs, and nothing else."""
    print("note:", json.dumps({"stage": stage.name, **numbers}), flush=True)


if __name__ == "__main__":
    main()
