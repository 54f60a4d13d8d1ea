"""The common part of a task's `generate` script, which runs once for each submission and serves all scorers.

The stage `generate` runs a submission, `reference-answers` each reference model. A submission that was not
admitted is rejected without being opened. This module imports no scoring code, so that a changed scorer
never makes a model generate again. By hand, with PYTHONPATH as docs/authors.md says:
    python SCRIPT --input submission=DIR --input admission=FILE
        --input private=DIR --output answers=DIR
or, for the folders that DIR/titles.json names, `--input models=DIR` in place of the first two.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from mlrb_kit.admitted import check_admitted
from mlrb_kit.answers import Prediction, write_answers
from mlrb_kit.guarded import fault_of
from mlrb_kit.reference_titles import read_titles
from mlrb_kit.rejected import Rejected
from mlrb_kit.stage import Stage, read_stage
from mlrb_kit.took import charged

# takes the folders of a model and of the private data; raises Rejected if the model is at fault
Write = Callable[[Path, Path], Sequence[Prediction]]


def answers_stage(write: Write) -> None:
    stage = read_stage()
    private, answers = stage.input("private"), stage.output("answers")
    if "models" in stage.inputs:
        models = stage.input("models")
        for name in read_titles(models):
            write_answers(answers / name, asked(write, models / name, private))
    else:
        submitted(write, stage, answers)


def submitted(write: Write, stage: Stage, answers: Path) -> None:
    def act(folder: Path) -> None:
        made = asked(write, folder, stage.input("private"))
        write_answers(answers, made)
        if isinstance(made, Rejected):
            raise made

    with charged(stage):
        try:
            check_admitted(stage)
            if fault := fault_of(stage, act, stage.input("submission")):
                raise Rejected(fault)
        except Rejected as rejected:
            write_answers(answers, rejected)


def asked(write: Write, model: Path, private: Path) -> Sequence[Prediction] | Rejected:
    try:
        return write(model, private)
    except Rejected as rejected:
        return rejected
