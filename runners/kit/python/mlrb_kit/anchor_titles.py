"""The titles of the models in a folder of reference models: a file next to them lists titles by name."""

import json
from pathlib import Path

FILE = "titles.json"


def read_titles(models: Path) -> dict[str, str]:
    return json.loads((models / FILE).read_text(encoding="utf-8"))


def write_titles(models: Path, titles: dict[str, str]) -> None:
    text = json.dumps(titles, indent=2, ensure_ascii=False)
    (models / FILE).write_text(f"{text}\n", encoding="utf-8")
