"""Lets a submission write the formal side of each private item, for the scorers that judge texts."""

from pathlib import Path

from mlrb_kit.answers import Prediction
from mlrb_kit.answers_stage import answers_stage
from scorer_library.generation.generate import predictions
from scorer_library.generation.items import read_math


def write(model: Path, private: Path) -> list[Prediction]:
    return predictions(model, read_math(private))


if __name__ == "__main__":
    answers_stage(write)
