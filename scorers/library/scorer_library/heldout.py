"""The held-out documents of a task's private data."""

from pathlib import Path
from typing import Any

from mlrb_kit.results import read_jsonl


def read_heldout(private: Path) -> list[dict[str, Any]]:
    """The documents of heldout.jsonl, each with id, group and text."""
    documents = read_jsonl(private / "heldout.jsonl")
    if not documents:
        raise SystemExit("heldout.jsonl is empty: the data stage is at fault, not the submission")
    return documents
