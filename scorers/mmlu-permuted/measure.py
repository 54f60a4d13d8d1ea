"""Measures MMLU with the choices of each question in another order (see README.md)."""

from pathlib import Path
from tempfile import TemporaryDirectory

from mlrb_kit.score_stage import Measured, score_stage
from permute import permuted_questions, write_questions
from scorer_library.lm_eval.letters import BY_LETTER
from scorer_library.lm_eval.measure import lm_eval_measure


def measure(submission: Path, private: Path) -> Measured:
    with TemporaryDirectory() as folder:
        write_questions(Path(folder), permuted_questions(private))
        return lm_eval_measure(BY_LETTER, submission, Path(folder))


if __name__ == "__main__":
    score_stage(measure)
