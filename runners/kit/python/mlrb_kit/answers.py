"""The generated texts of a model, as a file between the generating stage and the scorers.

A folder `answers` holds answers.jsonl. Its first line is `{"kind": "written", "items": N}`, and one answer
per line follows; or `{"kind": "rejected", "reason": "…"}` if there are none through the model's fault. A
task whose scorers judge no texts has an empty folder. Does not import torch, since scorers import this.
"""

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from mlrb_kit.rejected import Rejected

FILE = "answers.jsonl"
FORMAT = 1


@dataclass(frozen=True)
class Prediction:
    name: str
    text: str
    tokens: int  # generated ones, without the end token
    tied: int  # steps with several likeliest tokens
    ended: str  # "end-token", "tokens", "context", "seconds", "text" or "prompt-too-long"

    def sample(self) -> dict[str, Any]:
        """The fields that every scorer of predictions keeps for each item."""
        kept = asdict(self)
        return {"id": kept.pop("name"), "prediction": kept.pop("text"), **kept}


def write_answers(folder: Path, made: Sequence[Prediction] | Rejected) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(made, Rejected):
        rows = [{"formatVersion": FORMAT, "kind": "rejected", "reason": str(made)}]
    else:
        head = {"formatVersion": FORMAT, "kind": "written", "items": len(made)}
        rows = [head, *(asdict(prediction) for prediction in made)]
    # ASCII, since a reason may hold half a character
    lines = (json.dumps(row, sort_keys=True, allow_nan=False) for row in rows)
    (folder / FILE).write_text("".join(f"{line}\n" for line in lines), encoding="ascii")


def write_other_answers(given: Path, folder: Path) -> None:
    """The same items with another text: what scorers of `given` must be able to judge."""
    shutil.copytree(given, folder, dirs_exist_ok=True)
    head, *rows = (given / FILE).read_text(encoding="ascii").splitlines()
    others = [json.dumps({**json.loads(row), "text": "A ferry."}) for row in rows]
    (folder / FILE).write_text("".join(f"{line}\n" for line in (head, *others)), encoding="ascii")


def read_answers(folder: Path, names: Sequence[str]) -> list[Prediction]:
    """One prediction for each of `names`, in order. Raises Rejected if the model could not generate, and
    ValueError if answers are missing or belong to other items: our fault, so not measured."""
    path = folder / FILE
    if not path.is_file():
        raise ValueError(
            f"the input answers holds no {FILE}, and this scorer judges what the model wrote: name the "
            "script that lets it write as `generate` in task.yaml, or run it by hand first"
        )
    lines = path.read_text(encoding="ascii").splitlines()
    head = json.loads(lines[0]) if lines else {}
    if head.get("formatVersion") != FORMAT:
        raise ValueError(f"{FILE} is of format {head.get('formatVersion')}; this kit reads format {FORMAT}")
    if head["kind"] == "rejected":
        raise Rejected(head["reason"])
    if len(lines) - 1 != head["items"]:
        raise ValueError(
            f"{FILE} holds {len(lines) - 1} of {head['items']} answers: generate the answers again"
        )
    known = {field.name for field in fields(Prediction)}
    rows = [json.loads(line) for line in lines[1:]]
    if any(set(row) != known for row in rows) or [row["name"] for row in rows] != list(names):
        raise ValueError(f"{FILE} answers other items than the private data's: generate the answers again")
    return [Prediction(**row) for row in rows]
