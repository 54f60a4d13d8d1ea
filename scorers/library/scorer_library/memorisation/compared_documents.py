"""The private documents of a task, and public documents that match them (ADR 48).

A matched public document comes from the same source, has a place that the same split could have held out,
and is not longer.
"""

from dataclasses import dataclass
from pathlib import Path

from scorer_library.heldout import read_heldout
from scorer_library.public_texts import read_texts
from scorer_library.windows import DOCUMENT_BYTES, boundary

HELD_OUT = "heldout.jsonl"  # read by every scorer that takes bits per byte of private documents
TRAIN = "train.jsonl"


@dataclass(frozen=True)
class Document:
    """`source` is the file of public data with documents of this kind."""

    id: str  # the file and row that it is from
    side: str  # private or public
    source: str
    text: str


@dataclass(frozen=True)
class Compared:
    documents: list[Document]
    texts: list[str]  # all public texts of the same sources, whole
    others: list[str]  # those that are not compared


def has_private_documents(private: Path) -> bool:
    return (private / HELD_OUT).is_file()


def compared_documents(public: Path, private: Path) -> Compared:
    """All private documents and as many public ones, or fewer where the public data has fewer.

    A private document of the group G comes from the public file G.jsonl if there is one, else train.jsonl.
    """
    found: list[Document] = []
    all_texts: list[str] = []
    others: list[str] = []
    by_source: dict[str, list[Document]] = {}
    for at, row in enumerate(read_heldout(private)):
        source = source_of(public, row["group"])
        document = Document(f"{HELD_OUT}/{at}", "private", source, row["text"])
        by_source.setdefault(source, []).append(document)
    for source, held_out in sorted(by_source.items()):
        texts = read_texts(public / source)
        places = evenly(len(texts), min(len(texts), len(held_out)))
        matched = [
            Document(f"{source}/{place}", "public", source, beginning(texts[place], like.text))
            for place, like in zip(places, held_out, strict=False)
        ]
        found += [*held_out, *matched]
        chosen = set(places)
        all_texts += texts
        others += [text for place, text in enumerate(texts) if place not in chosen]
    return Compared(found, all_texts, others)


def source_of(public: Path, group: str) -> str:
    own = f"{group}.jsonl"
    source = own if own in {path.name for path in public.iterdir()} else TRAIN
    if not (public / source).is_file():
        raise SystemExit(
            f"the public data has no {source}, so no public text matches the private ones\n"
            f"  help: let the task's data script write {source}, or leave out {HELD_OUT}"
        )
    return source


def evenly(size: int, count: int) -> list[int]:
    """`count` places in the middle of equal parts of `size` rows: neighbours of every n-th row."""
    return [(2 * at + 1) * size // (2 * count) for at in range(count)]


def beginning(text: str, like: str) -> str:
    """The beginning of `text`, with at most as many bytes as scorers read of `like`."""
    data = text.encode()
    most = min(len(data), len(like.encode()), DOCUMENT_BYTES)
    return data[: boundary(data, most)].decode()
