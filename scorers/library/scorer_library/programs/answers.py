"""What a submitted program answered, and what its run took, between the generating stage and the scorers.

answers.jsonl has one prediction for each test image, run.json the seconds and the peak of memory.
"""

import contextlib
import json
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mlrb_kit.answers import Prediction, read_answers, write_answers
from mlrb_kit.canonical import write_canonical
from mlrb_kit.rejected import Rejected
from scorer_library.programs.labels import ProgramTest, read_test
from scorer_library.programs.predictions import read_predictions
from scorer_library.programs.run import MAIN, ProgramRun, run_program

RUN = "run.json"
FOLDER = "program"  # of the clean submission


@dataclass(frozen=True)
class Cost:
    seconds: float
    peak_bytes: int


@dataclass(frozen=True)
class Answered:
    test: ProgramTest
    predictions: dict[str, str]  # by id, in the order of the labels
    cost: Cost

    def is_right(self, name: str) -> bool:
        return self.predictions[name] == self.test.labels[name]


def answer_test(submission: Path, private: Path, answers: Path) -> None:
    """Runs the program on the test images and writes its answers. Raises Rejected if it is at fault."""
    test = read_test(private)
    program = submission / FOLDER
    if not (program / MAIN).is_file():
        raise Rejected(f"the submission holds no {MAIN}")
    with temporary_folder() as folder:
        work = folder / "work"
        work.mkdir()
        run = run_program(program, test.images, work, test.limits)
        require_success(run, test)
        found = read_predictions(work, test.column, test.labels)
    write_answers(answers, [Prediction(name, found[name], 0, 0, "text") for name in test.labels])
    cost = {"formatVersion": 1, "seconds": run.seconds, "peakBytes": run.peak_bytes}
    write_canonical(answers / RUN, cost)


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is removed whatever the program left there: nothing of it may fail the stage."""
    folder = Path(tempfile.mkdtemp(prefix="mlrb-program-")).resolve()
    try:
        yield folder
    finally:
        # shutil.rmtree calls itself for each level, and the program chose how many there are
        subprocess.run(["rm", "-rf", str(folder)], stderr=subprocess.DEVNULL, check=False)


def require_success(run: ProgramRun, test: ProgramTest) -> None:
    limits = test.limits
    if run.ended == "time":
        raise Rejected(f"the program did not end within {limits.seconds:g} s")
    if run.ended == "memory":
        raise Rejected(f"the program used more than {limits.memory_bytes / 1e9:g} GB of memory")
    if run.ended == "disk":
        raise Rejected(
            f"the program wrote more than {limits.disk_bytes / 1e9:.1f} GB or 10 000 files, or hid some"
        )
    if run.status < 0:
        raise Rejected(f"the program was ended by signal {-run.status}: {run.printed}")
    if run.status > 0:
        raise Rejected(f"the program ended with exit status {run.status}: {run.printed}")


def read_answered(answers: Path, private: Path) -> Answered:
    """Raises Rejected if the program was at fault, and ValueError if the answers are not whole."""
    test = read_test(private)
    made = read_answers(answers, list(test.labels))
    cost = json.loads((answers / RUN).read_text(encoding="ascii"))
    return Answered(test, {one.name: one.text for one in made}, Cost(cost["seconds"], cost["peakBytes"]))
