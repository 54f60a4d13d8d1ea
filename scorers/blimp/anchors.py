"""Rows that choose between two sentences without grammar: chance, length, n-grams of the public text."""

from collections.abc import Callable
from pathlib import Path

from measure import DATA, measure
from mlrb_kit.anchors_stage import Row as AnchorRow
from mlrb_kit.anchors_stage import anchors_stage
from scorer_library.lm_eval.data import Row, read_hub_data
from scorer_library.lm_eval.items import TIE_NATS, error_of_mean, mean
from scorer_library.ngram import fit_ngram, read_public

SENTENCE_CHARACTERS = 64  # about the length of one short sentence


def rows(public: Path, private: Path) -> list[AnchorRow]:
    pairs = read_hub_data(private, DATA)
    shorter = "The sentence of fewer bytes; equals count half"
    found = [
        {"name": "chance", "title": "Chance: one of two sentences", "kind": "guess", "value": 0.5},
        row("shorter", shorter, pairs, lambda text: len(text.encode())),
    ]
    if (public / "train.jsonl").is_file():  # public data of some tasks is not plain text
        model = fit_ngram(read_public(public), SENTENCE_CHARACTERS)
        kind = "of byte-level BPE tokens (2 000), trained on the public text; equal likelihoods count half"
        found += [
            row("unigram", f"Unigram {kind}", pairs, model.unigram_bits),
            row("bigram", f"Bigram {kind}", pairs, model.bigram_bits),
        ]
    return found


def row(name: str, title: str, pairs: dict[str, list[Row]], cost: Callable[[str], float]) -> AnchorRow:
    means = [mean([hit(pair, cost) for pair in found]) for found in pairs.values()]
    kind = "guess" if name == "shorter" else "n-gram"
    error = error_of_mean(means)
    return {"name": name, "title": title, "kind": kind, "value": mean(means), "standardError": error}


def hit(pair: Row, cost: Callable[[str], float]) -> float:
    gain = cost(pair["sentence_bad"]) - cost(pair["sentence_good"])
    return 0.5 if abs(gain) < TIE_NATS else float(gain > 0)


if __name__ == "__main__":
    anchors_stage(rows, measure)
