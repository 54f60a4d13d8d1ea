"""Lets a unigram and a bigram model of the public text choose between the sentences of each pair."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import measure
from mlrb_kit.anchors_stage import Row, anchors_stage
from mlrb_kit.results import read_jsonl
from pairs_score import half_for_ties
from scorer_library.lm_eval.items import error_of_mean, mean
from scorer_library.ngram import fit_ngram, read_public

SENTENCE_CHARACTERS = 64  # about the length of one short sentence


def rows(public: Path, private: Path) -> list[Row]:
    model = fit_ngram(read_public(public), SENTENCE_CHARACTERS)
    pairs = read_jsonl(private / "pairs.jsonl")
    kind = "of byte-level BPE tokens (2 000), trained on the public text; equal likelihoods count half"
    return [
        {"name": "chance", "title": "Chance: one of two sentences", "kind": "guess", "value": 0.5},
        row("unigram", f"Unigram {kind}", pairs, model.unigram_bits),
        row("bigram", f"Bigram {kind}", pairs, model.bigram_bits),
    ]


def row(name: str, title: str, pairs: list[dict[str, Any]], bits: Callable[[str], float]) -> Row:
    groups: dict[str, list[float]] = {}
    for pair in pairs:
        good, bad = -bits(pair["sentence_good"]), -bits(pair["sentence_bad"])
        hit = half_for_ties({"good": good, "bad": bad, "value": float(good > bad)})
        groups.setdefault(pair["UID"], []).append(hit)
    means = [mean(hits) for hits in groups.values()]
    about = {"name": name, "title": title, "kind": "n-gram"}
    return {**about, "value": mean(means), "standardError": error_of_mean(means)}


if __name__ == "__main__":
    anchors_stage(rows, measure)
