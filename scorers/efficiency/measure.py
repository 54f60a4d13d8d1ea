"""Measures what a submission costs: compute a token, size, speed (the definitions stand in README.md)."""

from pathlib import Path

from mlrb_kit import efficiency_speed
from mlrb_kit.efficiency import compute_a_token, read_settings, stored_size
from mlrb_kit.memory import measure_fresh
from mlrb_kit.memory_use import check_usable
from mlrb_kit.score_stage import Measured, score_stage

SETTINGS = {"computeTokens": 2000, "promptTokens": 64, "newTokens": 32, "repeats": 5}


def measure(submission: Path, private: Path) -> Measured:
    settings = read_settings(private, SETTINGS)
    check_usable(submission)
    size = stored_size(submission)
    compute = compute_a_token(submission, settings["computeTokens"])
    speed = measure_fresh(Path(efficiency_speed.__file__), submission, settings)
    value = compute["flopsPerToken"] / 1e6
    numbers = {name: found for name, found in speed.items() if not isinstance(found, list)}
    score = {"value": value, "standardError": 0.0, "items": 1, "groups": {}}
    sample = {"id": "submission", "value": value, "weight": 1, **size, **compute, **speed}
    return Measured({**score, "extra": {**size, **compute, **numbers}}, [sample])


if __name__ == "__main__":
    score_stage(measure)
