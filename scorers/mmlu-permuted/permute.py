"""MMLU's questions with their choices in another order (defined in README.md)."""

import json
from hashlib import sha256
from pathlib import Path

from scorer_library.lm_eval.data import Row, read_hub_data
from scorer_library.lm_eval.letters import DATA


def permuted(row: Row) -> Row:
    """The row with its choices in the order of sha256(question, choice), which does not depend on theirs."""
    choices = row["choices"]
    digests = [sha256(json.dumps([row["question"], choice]).encode()).digest() for choice in choices]
    order = sorted(range(len(choices)), key=lambda at: digests[at])  # equal choices keep their order
    return {**row, "choices": [choices[at] for at in order], "answer": order.index(row["answer"])}


def permuted_questions(private: Path) -> dict[str, list[Row]]:
    """By subject. Ends the script at the wrong row where the private data is at fault."""
    return {
        subject: [permuted(row) for row in rows] for subject, rows in read_hub_data(private, DATA).items()
    }


def write_questions(folder: Path, questions: dict[str, list[Row]]) -> None:
    """Writes `questions` into `folder` in the layout of private data."""
    for subject, rows in questions.items():
        path = folder / DATA.folder / subject / f"{DATA.split}.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
