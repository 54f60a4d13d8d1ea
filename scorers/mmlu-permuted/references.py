"""Scores on the permuted questions that need no question: chance, and the best constant letter."""

from pathlib import Path

from measure import measure
from mlrb_kit.references_stage import Row, references_stage
from permute import permuted_questions
from scorer_library.lm_eval.letters import letter_rows


def rows(_public: Path, private: Path) -> list[Row]:
    return letter_rows([row for found in permuted_questions(private).values() for row in found])


if __name__ == "__main__":
    references_stage(rows, measure)
