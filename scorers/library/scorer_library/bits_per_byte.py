"""Bits that a submission needs for held-out texts (defined in scorers/bits-per-byte/README.md)."""

import math
from pathlib import Path
from typing import Any
from unicodedata import normalize

from mlrb_kit.log_probabilities import log_probabilities
from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import Submission, load_submission
from scorer_library.heldout import read_heldout
from scorer_library.windows import windows


def cluster_of(document: dict[str, Any]) -> str:
    """The document's cluster for standard errors: the document alone, unless the data names a cluster."""
    return document.get("cluster", document["id"])


def bits_samples(submission_folder: Path, private: Path) -> list[dict[str, Any]]:
    """A sample for each held-out document: `value` in bits, `weight` in bytes."""
    documents = read_heldout(private)
    submission = load_submission(submission_folder)
    texts = {document["id"]: encode_windows(submission, document["text"]) for document in documents}
    return [document_bits(submission, document, texts[document["id"]]) for document in documents]


def encode_windows(submission: Submission, text: str) -> list[tuple[str, list[int]]]:
    """The windows of `text` with their ids. Raises Rejected where the ids do not decode to it.

    Unicode's equal forms (NFC) and a space that a tokenizer writes before every text are no loss.
    """
    encoded = []
    for window in windows(text):
        ids = submission.encode(window)
        back = submission.tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        if normalize("NFC", back) not in (normalize("NFC", window), normalize("NFC", f" {window}")):
            raise Rejected("the tokenizer loses text: decoding what it encodes does not give the text back")
        # the count of a token without bytes could encode the text
        if len(ids) > len(window.encode()) + 1:
            raise Rejected("the tokenizer uses more tokens than the text has bytes")
        encoded.append((window, ids))
    return encoded


def document_bits(
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
    """-log2 p of `ids`, split into pieces of the model's context, each scored from the start token."""
    reach = submission.context or len(ids)
    nats = 0.0
    for start in range(0, len(ids), reach):
        piece = ids[start : start + reach]
        logs = log_probabilities(submission, [submission.start_id, *piece[:-1]])
        if max(piece) >= logs.shape[1]:
            raise Rejected(f"the tokenizer gives ids of {max(piece)}; the model predicts {logs.shape[1]}")
        nats -= logs[range(len(piece)), piece].double().sum().item()
    return nats / math.log(2)
