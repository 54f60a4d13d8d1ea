"""Measures a submission's compute per token, size and speed (defined in README.md)."""

from pathlib import Path

from mlrb_kit.score_stage import Measured, score_stage
from mlrb_kit.submission import check_files
from scorer_library.costs import efficiency_speed
from scorer_library.costs.efficiency import read_settings
from scorer_library.costs.memory import measure_fresh

SETTINGS = {"computeTokens": 2000, "promptTokens": 64, "newTokens": 32, "repeats": 5}


def measure(submission: Path, private: Path) -> Measured:
    settings = read_settings(private, SETTINGS)
    check_files(submission)  # rejects an incomplete submission before a process is started
    found = measure_fresh(Path(efficiency_speed.__file__), submission, settings)
    value = found["flopsPerToken"] / 1e6
    numbers = {name: number for name, number in found.items() if not isinstance(number, (list, str))}
    score = {"value": value, "standardError": 0.0, "items": 1, "groups": {}, "extra": numbers}
    return Measured(score, [{"id": "submission", "value": value, "weight": 1, **found}])


if __name__ == "__main__":
    score_stage(measure)
