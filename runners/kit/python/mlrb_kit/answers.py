"""What a model wrote, as a file between the stage that lets it write and the scorers that judge the texts.

A folder `answers` holds answers.jsonl. Its first line says `{"kind": "written", "items": N}`, and one answer
a line follows; or `{"kind": "rejected", "reason": "…"}` where the model is to blame that there are none. A
task whose scorers judge no texts has an empty folder. No torch here: scorers import it.
"""

import json
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
    tokens: int  # new ones, the end token left out
    tied: int  # steps at which several tokens were likeliest
    ended: str  # "end-token", "tokens", "context", "seconds", "text" or "prompt-too-long"

    def sample(self) -> dict[str, Any]:
        """The fields that every scorer of these predictions keeps for each item."""
        kept = asdict(self)
        return {"id": kept.pop("name"), "prediction": kept.pop("text"), **kept}


def write_answers(folder: Path, made: Sequence[Prediction] | Rejected) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(made, Rejected):
        rows = [{"formatVersion": FORMAT, "kind": "rejected", "reason": str(made)}]
    else:
        head = {"formatVersion": FORMAT, "kind": "written", "items": len(made)}
        rows = [head, *(asdict(prediction) for prediction in made)]
    # escaped, since a reason may hold half a character
    lines = (json.dumps(row, sort_keys=True, allow_nan=False) for row in rows)
    (folder / FILE).write_text("".join(f"{line}\n" for line in lines), encoding="ascii")


def read_answers(folder: Path, names: Sequence[str]) -> list[Prediction]:
    """One prediction for each of `names`, in order. Raises Rejected where the model could not be asked, and
    ValueError where the answers are not whole or to other items: our fault, so not measured."""
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
