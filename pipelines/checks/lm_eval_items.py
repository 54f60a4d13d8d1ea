"""Checks that the published models of a task answer ten items of lm-eval on this host, by the scorers' code.

The questions are sums, and one has about as many tokens as a model reads, so that memory is tried too. Right
answers do not matter: `reference-check` compares scores. By hand, with DIR a folder of models:
    PYTHONPATH=runners/kit/python:scorers/library python pipelines/checks/lm_eval_items.py
        --input published=DIR --output check=FILE
"""

import json
import math
import tempfile
import time
import traceback
from pathlib import Path

from mlrb_kit.device import device_name, finished
from mlrb_kit.rejected import Rejected
from mlrb_kit.stage import Stage, read_stage
from scorer_library.lm_eval.letters import BY_LETTER
from scorer_library.lm_eval.measure import lm_eval_measure

SUBJECT = "elementary_mathematics"
ITEMS = 10
LONG_WORDS = 1500
WAY_OUT = "look at the device's memory (nvidia-smi); compare the files: `pnpm pipeline sources verify`"


def main() -> None:
    stage = read_stage()
    found, failed = [], []
    for name, folder in models(stage).items():
        try:
            found.append(f"{name}: {ITEMS} items in {seconds_of(folder):.1f} s")
        except Rejected as rejected:
            failed.append(f"{name}: {rejected}")
        except (MemoryError, RuntimeError) as error:
            traceback.print_exc()
            cause = next(iter(str(error).splitlines()), type(error).__name__)
            memory = isinstance(error, MemoryError) or "out of memory" in str(error)
            failed.append(f"{name}: {f'out of memory on {device_name()}: ' if memory else ''}{cause}")
    for words in found:
        print(words, flush=True)
    if failed:
        raise SystemExit(f"{'; '.join(failed)}; {WAY_OUT}")
    words = f"{', '.join(found)}, on {device_name()}" if found else "no published model to load"
    stage.output("check").write_text(words + "\n", encoding="utf-8")


def models(stage: Stage) -> dict[str, Path]:
    """By name. A folder of models holds one folder for each."""
    found = {"base": stage.inputs["base"]} if "base" in stage.inputs else {}
    for kind in ("given", "published"):
        if kind in stage.inputs:
            found |= {path.name: path for path in sorted(stage.inputs[kind].iterdir()) if path.is_dir()}
    return found


def seconds_of(folder: Path) -> float:
    """From loading the model to its last answer."""
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as private:
        write_rows(Path(private, BY_LETTER.data.folder, SUBJECT))
        measured = lm_eval_measure(BY_LETTER, folder, Path(private))
        # a score may be rejected for its answers, such as ties, which do not matter here
        likelihoods = [each for sample in measured.samples for each in sample["likelihoods"]]
        if len(likelihoods) < ITEMS or not all(math.isfinite(each) for each in likelihoods):
            raise Rejected(
                str(measured.score) if isinstance(measured.score, Rejected) else "an answer is not finite"
            )
    finished()
    return time.perf_counter() - begin


def write_rows(folder: Path) -> None:
    folder.mkdir(parents=True)
    long = " plus ".join(["one"] * LONG_WORDS)
    questions = [f"What is {at} plus {at + 1}?" for at in range(ITEMS - 1)] + [f"Is {long} even?"]
    rows = [
        {"question": question, "subject": SUBJECT, "choices": ["1", "2", "3", "4"], "answer": at % 4}
        for at, question in enumerate(questions)
    ]
    for split in (BY_LETTER.data.split, BY_LETTER.data.shots):
        Path(folder, f"{split}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


if __name__ == "__main__":
    main()
