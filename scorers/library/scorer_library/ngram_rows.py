"""Scores a unigram and a bigram of the public text on the held-out text, in the windows of bits per byte."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mlrb_kit.references_stage import Row
from mlrb_kit.results import read_jsonl
from scorer_library.bits_per_byte import cluster_of
from scorer_library.ngram import fit_ngram
from scorer_library.windows import WINDOW_BYTES, windows

Score = Callable[[list[dict[str, Any]]], tuple[float, float]]  # of samples: value and standard error


def ngram_rows(public_texts: list[str], private: Path, score: Score) -> list[Row]:
    """Rows `unigram` and `bigram`. `score` gets samples as of a submission: group, cluster, bits, bytes."""
    model = fit_ngram(public_texts, WINDOW_BYTES)
    documents = read_jsonl(private / "heldout.jsonl")
    kind = "of byte-level BPE tokens (2 000), trained on the public text"
    titles = {
        "unigram": (f"Unigram {kind}", model.unigram_bits),
        "bigram": (f"Bigram {kind}, interpolated with the unigram", model.bigram_bits),
    }
    rows = []
    for name, (title, bits) in titles.items():
        value, error = score([sample(document, bits) for document in documents])
        row = {"name": name, "title": title, "kind": "n-gram", "value": value, "standardError": error}
        rows.append(row)
    return rows


def sample(document: dict[str, Any], bits: Callable[[str], float]) -> dict[str, Any]:
    pieces = windows(document["text"])
    size = sum(len(piece.encode()) for piece in pieces)
    value = sum(bits(piece) for piece in pieces)
    return {"group": document["group"], "cluster": cluster_of(document), "value": value, "weight": size}
