"""The score that needs no question: chance, which is equal in all domains and so in the worst one."""

from pathlib import Path

from measure import measure
from mlrb_kit.references_stage import Row, references_stage


def rows(_public: Path, _private: Path) -> list[Row]:
    title = "Chance: one of four answers, in every domain"
    return [{"name": "chance", "title": title, "kind": "guess", "value": 0.25}]


if __name__ == "__main__":
    references_stage(rows, measure)
