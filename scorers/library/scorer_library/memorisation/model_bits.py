"""What a model needs for each compared document, in the format of memorisation.json."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mlrb_kit.anchor_titles import read_titles
from mlrb_kit.rejected import Rejected
from mlrb_kit.stage import Stage
from scorer_library.memorisation.compared_documents import Compared, Document, compared_documents
from scorer_library.windows import WINDOW_BYTES, windows

DOCUMENTS = "documents"  # scoredText of scorers that take bits per byte of private documents
OTHERS = "bigram-of-others"

Model = dict[str, Any]


def scores_documents(stage: Stage) -> bool:
    """Whether a scorer of the task takes bits per byte of private documents."""
    import yaml

    paths = [stage.source_file(f"scorers/{name}/scorer.yaml") for name in stage.param("scorers")]
    manifests = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in paths]
    return any(manifest.get("scoredText") == DOCUMENTS for manifest in manifests)


def submission_bits(name: str, folder: Path, documents: list[Document]) -> Model:
    """The bits of a model folder for each document, or why it is rejected."""
    from mlrb_kit.submission import load_submission
    from scorer_library.bits_per_byte import document_bits, encode_windows

    def measured() -> list[dict[str, Any]]:
        submission = load_submission(folder)
        rows = [encode_windows(submission, document.text) for document in documents]
        return [
            document_bits(submission, {"id": document.id, "group": document.source}, encoded)
            for document, encoded in zip(documents, rows, strict=True)
        ]

    try:
        samples = measured()
    except Rejected as rejected:
        return {"name": name, "kind": "rejected", "reason": str(rejected)}
    bits = [(sample["value"], sample["weight"]) for sample in samples]
    return {"name": name, "kind": "measured", "documents": described(documents, bits)}


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
    found = [window_bits(document.text, bits) for document in compared.documents]
    return described(compared.documents, found)


def window_bits(text: str, bits: Callable[[str], float]) -> tuple[float, int]:
    pieces = windows(text)
    return sum(bits(piece) for piece in pieces), sum(len(piece.encode()) for piece in pieces)


def described(documents: list[Document], bits: list[tuple[float, int]]) -> list[dict[str, Any]]:
    return [
        {"id": each.id, "side": each.side, "source": each.source, "bits": float(value), "bytes": size}
        for each, (value, size) in zip(documents, bits, strict=True)
    ]
