"""The models in a folder of reference models: a file next to them lists by name what its rows say."""

import json
from pathlib import Path
from typing import TypedDict

FILE = "titles.json"


class About(TypedDict):
    title: str
    kind: str  # untrained or given-model, as in the format of references
    parameters: int  # as stored


def read_titles(models: Path) -> dict[str, About]:
    return json.loads((models / FILE).read_text(encoding="utf-8"))


def write_titles(models: Path, titles: dict[str, About]) -> None:
    text = json.dumps(titles, indent=2, ensure_ascii=False)
    (models / FILE).write_text(f"{text}\n", encoding="utf-8")
