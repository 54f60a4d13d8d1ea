"""Unigram and bigram models of a text's tokens: rows to compare a language model's score with.

Tokens are byte-level BPE, trained on the same public text. The bigram is interpolated with the unigram
(Jelinek and Mercer, 1980): p(b | a) = w(a) count(ab) / count(a) + (1 - w(a)) p(b). Contexts of about equal
count share a weight w, fitted by expectation-maximisation on public texts that are not counted.
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

VOCABULARY = 2000
FIT_EVERY = 20  # every 20th public text fits the weights
ROUNDS = 20
TEXTS = ("content", "text", "informal_statement", "informal_proof", "formal_proof")

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Ngram:
    tokenizer: Tokenizer
    start: int  # the context of each window's first token; not a token of the tokenizer, so in no text
    unigram: NDArray[np.float64]  # p of each token, add-one smoothed; 0 for `start`
    counts: NDArray[np.int64]  # of the pair (a, b) at a * size + b, where size is `start` + 1
    seen: NDArray[np.int64]  # count of each token as a context
    weights: NDArray[np.float64]  # of the bigram, by bucket of the context's count

    def encode(self, text: str) -> Ids:
        return token_ids(self.tokenizer, text)

    def unigram_bits(self, text: str) -> float:
        return -math.fsum(np.log2(self.unigram[self.encode(text)]))

    def bigram_bits(self, text: str) -> float:
        ids = self.encode(text)
        contexts = np.concatenate([[self.start], ids[:-1]])
        weight = self.weights[bucket(self.seen[contexts])]
        bigram = relative(self, contexts, ids)
        return -math.fsum(np.log2(weight * bigram + (1 - weight) * self.unigram[ids]))


def read_public(folder: Path) -> list[str]:
    """The texts of train.jsonl, from the fields in TEXTS."""
    with (folder / "train.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    found = [[row[name] for name in TEXTS if name in row] for row in rows]
    if not all(found):
        raise ValueError(f"train.jsonl: a row has none of the fields {', '.join(TEXTS)}")
    return ["\n".join(texts) for texts in found]


def fit_ngram(texts: list[str], window: int) -> Ngram:
    """`window`: characters that are scored at a time. The weights are fitted to pieces of this length."""
    tokenizer = train_bpe(texts)
    start = tokenizer.get_vocab_size()
    size = start + 1
    unigram, seen = np.ones(size), np.zeros(size, dtype=np.int64)
    unigram[start] = 0
    pairs = np.zeros(size * size, dtype=np.int64)  # 32 MB
    for text in (text for at, text in enumerate(texts) if at % FIT_EVERY):
        ids = token_ids(tokenizer, text)
        unigram += np.bincount(ids, minlength=size)
        seen += np.bincount(ids[:-1], minlength=size)
        np.add.at(pairs, ids[:-1] * size + ids[1:], 1)
    flat = np.zeros(bucket(np.array([seen.max()]))[0] + 1)
    model = Ngram(tokenizer, start, unigram / unigram.sum(), pairs, seen, flat)
    pieces = [text[at : at + window] for text in texts[::FIT_EVERY] for at in range(0, len(text), window)]
    return Ngram(tokenizer, start, model.unigram, pairs, seen, fit_weights(model, pieces))


def fit_weights(model: Ngram, pieces: list[str]) -> NDArray[np.float64]:
    rows = [model.encode(piece) for piece in pieces]
    contexts = np.concatenate([np.concatenate([[model.start], ids[:-1]]) for ids in rows])
    tokens = np.concatenate(rows)
    buckets = bucket(model.seen[contexts])
    bigram, unigram = relative(model, contexts, tokens), model.unigram[tokens]
    weights = np.full(len(model.weights), 0.5)
    weights[0] = 0  # a context never seen has no bigrams
    members = np.bincount(buckets, minlength=len(weights))
    most = 1 - 1 / (members + 2)  # below 1: tokens without a bigram would be impossible
    for _ in range(ROUNDS):
        share = weights[buckets] * bigram
        share /= share + (1 - weights[buckets]) * unigram
        sums = np.bincount(buckets, weights=share, minlength=len(weights))
        weights = np.where(members > 0, np.minimum(sums / np.maximum(members, 1), most), weights)
    return weights


def relative(model: Ngram, contexts: Ids, tokens: Ids) -> NDArray[np.float64]:
    """count(context token) / count(context), 0 where the context was never seen."""
    return model.counts[contexts * (model.start + 1) + tokens] / np.maximum(model.seen[contexts], 1)


def bucket(counts: Ids) -> Ids:
    """0 for none, else 1 + floor(log2(count))."""
    return np.where(counts > 0, np.floor(np.log2(np.maximum(counts, 1))) + 1, 0).astype(np.int64)


def token_ids(tokenizer: Tokenizer, text: str) -> Ids:
    """The same ids as `encode`, which also finds the place of each token in the text."""
    [encoded] = tokenizer.encode_batch_fast([text])
    return np.array(encoded.ids, dtype=np.int64)


def train_bpe(texts: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer
