"""Measures the peak memory that a submission needs beyond its libraries (see README.md)."""

from pathlib import Path

from mlrb_kit.score_stage import Measured, score_stage
from mlrb_kit.submission import check_files
from scorer_library.costs import memory_peak
from scorer_library.costs.efficiency import read_settings
from scorer_library.costs.memory import measure_fresh_memory

SETTINGS = {"forwardTokens": 2000, "newTokens": 128}


def measure(submission: Path, private: Path) -> Measured:
    settings = read_settings(private, SETTINGS)
    check_files(submission)  # rejects an incomplete submission before a process is started
    found = measure_fresh_memory(Path(memory_peak.__file__), submission, settings)
    value = found.pop("netBytes")
    numbers = {name: number for name, number in found.items() if name != "device"}
    score = {"value": value, "standardError": 0.0, "items": 1, "groups": {}, "extra": numbers}
    return Measured(score, [{"id": "submission", "value": value, "weight": 1, **found}])


if __name__ == "__main__":
    score_stage(measure)
