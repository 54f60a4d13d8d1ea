"""Rows to compare scores of minimal pairs with: what a cost of each sentence chooses."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from mlrb_kit.references_stage import Row
from scorer_library.lm_eval.items import TIE_NATS, error_of_mean, mean
from scorer_library.ngram import fit_ngram, read_public

SENTENCE_CHARACTERS = 64  # about the length of one short sentence
CHANCE: Row = {"name": "chance", "title": "Chance: one of two sentences", "kind": "guess", "value": 0.5}

Groups = Iterable[list[dict[str, Any]]]  # the pairs of each paradigm


def ngram_pair_rows(public: Path, groups: Groups) -> list[Row]:
    """A unigram and a bigram model of the public text."""
    model = fit_ngram(read_public(public), SENTENCE_CHARACTERS)
    kind = "of byte-level BPE tokens (2 000), trained on the public text; equal likelihoods count half"
    return [
        pair_row("unigram", f"Unigram {kind}", "n-gram", groups, model.unigram_bits),
        pair_row("bigram", f"Bigram {kind}", "n-gram", groups, model.bigram_bits),
    ]


def pair_row(name: str, title: str, kind: str, groups: Groups, cost: Callable[[str], float]) -> Row:
    """The unweighted mean over paradigms."""
    means = [mean([hit(pair, cost) for pair in found]) for found in groups]
    error = error_of_mean(means)
    return {"name": name, "title": title, "kind": kind, "value": mean(means), "standardError": error}


def hit(pair: dict[str, Any], cost: Callable[[str], float]) -> float:
    gain = cost(pair["sentence_bad"]) - cost(pair["sentence_good"])
    return 0.5 if abs(gain) < TIE_NATS else float(gain > 0)
