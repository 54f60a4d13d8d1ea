"""Runs a submitted program on the test images, for the scorers of its predictions, time and memory."""

from mlrb_kit.admitted import check_admitted
from mlrb_kit.anchor_titles import read_titles
from mlrb_kit.answers import write_answers
from mlrb_kit.rejected import Rejected
from mlrb_kit.stage import read_stage
from scorer_library.programs.answers import answer_test


def main() -> None:
    stage = read_stage()
    private, answers = stage.input("private"), stage.output("answers")
    if "models" in stage.inputs:
        folders = {
            answers / name: stage.input("models") / name for name in read_titles(stage.input("models"))
        }
    else:
        folders = {answers: stage.input("submission")}
    for out, submission in folders.items():
        try:
            if "models" not in stage.inputs:
                check_admitted(stage)
            answer_test(submission, private, out)
        except Rejected as rejected:
            write_answers(out, rejected)


if __name__ == "__main__":
    main()
