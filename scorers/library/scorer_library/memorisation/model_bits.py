"""What a model needs for each compared document, in the format of memorisation.json."""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from mlrb_kit.log_probabilities import log_probabilities
from mlrb_kit.reference_titles import read_titles
from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import Submission, load_submission
from scorer_library.memorisation.compared_documents import Compared, Document, compared_documents
from scorer_library.windows import WINDOW_BYTES, windows

OTHERS = "bigram-of-others"

Model = dict[str, Any]


def submission_bits(name: str, folder: Path, documents: list[Document]) -> Model:
    """The bits of a model folder for each document, or why it is rejected."""
    try:
        submission = load_submission(folder)
        found = [text_bits(document.text, partial(window_bits, submission)) for document in documents]
    except Rejected as rejected:
        return {"name": name, "kind": "rejected", "reason": str(rejected)}
    return {"name": name, "kind": "measured", "documents": described(documents, found)}


def window_bits(submission: Submission, window: str) -> float:
    """-log2 p of a window as bits per byte defines it: pieces of the model's context, from the start token.

    No scorer's code is imported, so that its change reruns no memorisation stage. Scorers check the tokenizer
    more strictly.
    """
    ids = submission.encode(window)
    reach = submission.context or len(ids)
    nats = []
    for start in range(0, len(ids), reach):
        piece = ids[start : start + reach]
        logs = log_probabilities(submission, [submission.start_id, *piece[:-1]])
        if max(piece) >= logs.shape[1]:
            raise Rejected(f"the tokenizer gives ids of {max(piece)}; the model predicts {logs.shape[1]}")
        nats.append(logs[range(len(piece)), piece].double().sum().item())
    return -math.fsum(nats) / math.log(2)


def reference_bits(public: Path, private: Path, models: Path) -> tuple[list[Model], str]:
    """The task's reference models, and the name of the one that submissions are compared with.

    That is the unchanged base where the task gives one; else a bigram that saw none of the compared texts. A
    bigram of all public texts is better on public texts than on private ones, so a model that saw neither
    would look as if it had memorised.
    """
    compared = compared_documents(public, private)
    titles = read_titles(models)
    found = [submission_bits(name, models / name, compared.documents) for name in titles]
    found += ngram_bits(compared, compared.texts, {"unigram": "unigram_bits", "bigram": "bigram_bits"})
    given = [name for name, about in titles.items() if about["kind"] == "given-model"]
    if given:
        return found, given[0]
    return [*found, *ngram_bits(compared, compared.others, {OTHERS: "bigram_bits"})], OTHERS


def ngram_bits(compared: Compared, texts: list[str], methods: dict[str, str]) -> list[Model]:
    """The n-gram models of `texts`, by name and method."""
    from scorer_library.ngram import fit_ngram

    model = fit_ngram(texts, WINDOW_BYTES)
    return [
        {"name": name, "kind": "measured", "documents": ngram_documents(compared, getattr(model, method))}
        for name, method in methods.items()
    ]


def ngram_documents(compared: Compared, bits: Callable[[str], float]) -> list[dict[str, Any]]:
    found = [text_bits(document.text, bits) for document in compared.documents]
    return described(compared.documents, found)


def text_bits(text: str, bits: Callable[[str], float]) -> tuple[float, int]:
    """Bits and bytes of the windows of `text`."""
    pieces = windows(text)
    return sum(bits(piece) for piece in pieces), sum(len(piece.encode()) for piece in pieces)


def described(documents: list[Document], bits: list[tuple[float, int]]) -> list[dict[str, Any]]:
    return [
        {"id": each.id, "side": each.side, "source": each.source, "bits": float(value), "bytes": size}
        for each, (value, size) in zip(documents, bits, strict=True)
    ]
