"""The text of WikiText-2's test split, as agent-eval joins it."""

from collections.abc import Iterable
from pathlib import Path

from mlrb_kit.results import read_jsonl

TEST = Path("wikitext/wikitext-2-raw-v1/test.jsonl")  # in a task's official private data


def read_wikitext(private: Path) -> str:
    text = joined(row["text"] for row in read_jsonl(private / TEST))
    if not text.strip():
        raise SystemExit(f"{TEST} holds no text: the data stage is at fault, not the submission")
    return text


def joined(rows: Iterable[str]) -> str:
    """The rows in order, an empty row as a space and a line break."""
    return "".join(row or " \n" for row in rows)
