"""Scores a unigram and a bigram of the public text on the held-out text, in the scorer's own windows."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mlrb_kit.ngram import fit_ngram, read_public
from mlrb_kit.ratio import ratio
from mlrb_kit.results import read_jsonl, write_json
from mlrb_kit.windows import WINDOW_BYTES, windows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--public", type=Path, required=True)
    parser.add_argument("--private", type=Path, required=True)
    parser.add_argument("--rows", type=Path, required=True, help="JSON to write")
    args = parser.parse_args()

    model = fit_ngram(read_public(args.public), WINDOW_BYTES)
    texts = [document["text"] for document in read_jsonl(args.private / "heldout.jsonl")]
    kind = "of byte-level BPE tokens (2 000), trained on the public text"
    rows = [
        row("unigram", f"Unigram {kind}", texts, model.unigram_bits),
        row("bigram", f"Bigram {kind}, interpolated with the unigram", texts, model.bigram_bits),
    ]
    write_json(args.rows, rows)


def row(name: str, title: str, texts: list[str], bits: Callable[[str], float]) -> dict[str, Any]:
    samples = []
    for text in texts:
        pieces = windows(text)
        size = sum(len(piece.encode()) for piece in pieces)
        samples.append({"value": sum(bits(piece) for piece in pieces), "weight": size})
    value, error = ratio(samples)
    return {"name": name, "title": title, "value": value, "standardError": error}


if __name__ == "__main__":
    main()
