"""Measures bits per byte of a submission on held-out text (the definition stands in README.md)."""

import argparse
import math
from pathlib import Path
from typing import Any

from mlrb_kit.causal import check_causal, log_probabilities
from mlrb_kit.ratio import ratio
from mlrb_kit.rejected import Rejected
from mlrb_kit.results import read_jsonl, write_json, write_jsonl
from mlrb_kit.submission import Submission, load_submission
from mlrb_kit.windows import windows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submission", type=Path, required=True)
    parser.add_argument(
        "--private", type=Path, required=True, help="folder with heldout.jsonl: id, group, text"
    )
    parser.add_argument("--score", type=Path, required=True, help="JSON to write")
    parser.add_argument("--samples", type=Path, required=True, help="JSON Lines to write, one document each")
    args = parser.parse_args()

    documents = read_jsonl(args.private / "heldout.jsonl")
    if not documents:
        raise SystemExit("heldout.jsonl is empty: the data stage is at fault, not the submission")
    samples: list[dict[str, Any]] = []
    try:
        submission = load_submission(args.submission)
        texts = {document["id"]: encode_windows(submission, document["text"]) for document in documents}
        check_causal(submission, [rows[0][1] for rows in texts.values() if rows])
        samples = [measure(submission, document, texts[document["id"]]) for document in documents]
        write_json(args.score, scored(samples))
    except Rejected as rejected:
        samples = []
        write_json(args.score, {"kind": "rejected", "reason": str(rejected)})
    write_jsonl(args.samples, samples)


def encode_windows(submission: Submission, text: str) -> list[tuple[str, list[int]]]:
    """The windows of `text` with their ids; raises Rejected where the ids do not give the text back."""
    encoded = []
    for window in windows(text):
        ids = submission.encode(window)
        back = submission.tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        if back != window:
            raise Rejected("the tokenizer loses text: decoding what it encodes does not give the text back")
        # a token that stands for no byte could carry the text in how often it is repeated
        if len(ids) > len(window.encode()) + 1:
            raise Rejected("the tokenizer uses more tokens than the text has bytes")
        encoded.append((window, ids))
    return encoded


def measure(
    submission: Submission, document: dict[str, Any], rows: list[tuple[str, list[int]]]
) -> dict[str, Any]:
    bits = [window_bits(submission, ids) for _, ids in rows]
    return {
        "id": document["id"],
        "group": document["group"],
        "value": math.fsum(bits),
        "weight": sum(len(window.encode()) for window, _ in rows),
        "tokens": sum(len(ids) for _, ids in rows),
        "windows": bits,
    }


def window_bits(submission: Submission, ids: list[int]) -> float:
    """-log2 p of `ids`; where they exceed the model's context, piece by piece, each starting afresh."""
    reach = submission.context or len(ids)
    nats = 0.0
    for start in range(0, len(ids), reach):
        piece = ids[start : start + reach]
        logs = log_probabilities(submission, [submission.start_id, *piece[:-1]])
        if max(piece) >= logs.shape[1]:
            raise Rejected(f"the tokenizer gives ids of {max(piece)}; the model predicts {logs.shape[1]}")
        nats -= logs[range(len(piece)), piece].double().sum().item()
    return nats / math.log(2)


def scored(samples: list[dict[str, Any]]) -> dict[str, Any]:
    value, error = ratio(samples)
    if not math.isfinite(value):
        raise Rejected("non-finite output")
    groups = sorted({sample["group"] for sample in samples})
    members = {group: [sample for sample in samples if sample["group"] == group] for group in groups}
    return {
        "kind": "scored",
        "value": value,
        "standardError": error,
        "items": len(samples),
        "groups": {
            group: {"value": ratio(found)[0], "items": len(found)} for group, found in members.items()
        },
        "extra": {
            "bytes": sum(sample["weight"] for sample in samples),
            "tokens": sum(sample["tokens"] for sample in samples),
        },
    }


if __name__ == "__main__":
    main()
