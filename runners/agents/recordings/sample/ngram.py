"""A bigram model in the form of a GPT-2 whose only block does nothing. Written for the sample.

Counts pairs of tokens, keeps the directions in which the following token varies most, fits the head to the
counts, and prints the bits per byte of every tenth text, which it does not count.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

END = "<|endoftext|>"
POSITIONS = 512
Matrix = NDArray[np.float64]


def train_tokenizer(texts: list[str], vocabulary: int) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def counts_of(tokenizer: Tokenizer, texts: list[str]) -> Matrix:
    counts = np.zeros((tokenizer.get_vocab_size(),) * 2)
    for encoded in tokenizer.encode_batch(texts):
        ids = np.array([tokenizer.token_to_id(END), *encoded.ids])
        np.add.at(counts, (ids[:-1], ids[1:]), 1)
    return counts


def fit(counts: Matrix, options: argparse.Namespace) -> tuple[Matrix, Matrix]:
    """Each token's features, normalised as GPT-2 does before its head, and the head."""
    rows = counts.sum(1, keepdims=True)
    unigram = (counts.sum(0) + 1) / (counts.sum() + len(counts))
    target = (counts + options.smoothing * unigram) / (rows + options.smoothing)
    ratio = np.log(target / unigram) * np.sqrt(rows / rows.mean())
    start = np.random.default_rng(options.seed).standard_normal((len(counts), options.rank))
    features = ratio @ np.linalg.qr(ratio.T @ (ratio @ start))[0]
    features -= features.mean(1, keepdims=True)
    features /= np.sqrt(features.var(1, keepdims=True) + 1e-12)
    features[:, -1] = 1
    head = np.zeros((len(counts), options.rank))
    head[:, -1] = np.log(unigram)
    first, second = np.zeros_like(head), np.zeros_like(head)
    weight = rows / rows.sum()
    target *= weight
    guess = np.empty_like(counts)
    for step in range(1, options.steps + 1):
        np.matmul(features, head.T, out=guess)
        guess -= guess.max(1, keepdims=True)
        np.exp(guess, out=guess)
        guess *= weight / guess.sum(1, keepdims=True)
        guess -= target
        gradient = guess.T @ features
        first = 0.9 * first + 0.1 * gradient
        second = 0.99 * second + 0.01 * gradient**2
        rate = options.rate * (1 - step / (options.steps + 1))
        head -= rate * first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.99**step)) + 1e-9)
    return features, head


def softmax(logits: Matrix) -> Matrix:
    guess = np.exp(logits - logits.max(1, keepdims=True))
    return guess / guess.sum(1, keepdims=True)


def hand_in(tokenizer: Tokenizer, features: Matrix, head: Matrix, provenance: dict[str, Any]) -> None:
    folder = Path("submission")
    folder.mkdir(exist_ok=True)
    size, width = features.shape
    end = tokenizer.token_to_id(END)
    config = {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        **{"vocab_size": size, "n_embd": width, "n_positions": POSITIONS, "n_layer": 1, "n_head": 1},
        **{"n_inner": 4, "tie_word_embeddings": False, "bos_token_id": end, "eos_token_id": end},
    }
    shapes = {
        "wpe.weight": (POSITIONS, width),
        **{f"h.0.{name}": (width,) for name in ("ln_1.weight", "ln_1.bias", "ln_2.weight", "ln_2.bias")},
        **{"h.0.attn.c_attn.weight": (width, 3 * width), "h.0.attn.c_attn.bias": (3 * width,)},
        **{"h.0.attn.c_proj.weight": (width, width), "h.0.attn.c_proj.bias": (width,)},
        **{"h.0.mlp.c_fc.weight": (width, 4), "h.0.mlp.c_fc.bias": (4,)},
        **{"h.0.mlp.c_proj.weight": (4, width), "h.0.mlp.c_proj.bias": (width,)},
    }
    tensors = {name: np.zeros(shape) for name, shape in shapes.items()}
    # the last feature is constant: it comes from the bias of the last normalisation
    constant = np.eye(width)[-1]
    tensors |= {"wte.weight": features, "ln_f.weight": 1 - constant, "ln_f.bias": constant}
    stored = {f"transformer.{name}": tensor.astype(np.float32) for name, tensor in tensors.items()}
    save_file(
        stored | {"lm_head.weight": head.astype(np.float32)}, folder / "model.safetensors", {"format": "pt"}
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": END, "eos_token": END}
    for name, value in {"config": config, "tokenizer_config": settings, "provenance": provenance}.items():
        (folder / f"{name}.json").write_text(json.dumps(value, indent=2) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    for name, default in (("vocabulary", 257), ("rank", 32), ("texts", 20), ("steps", 30), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--smoothing", type=float, default=1.0)
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--data", nargs="+", default=["brown-smoke"])
    options = parser.parse_args()
    rows = [json.loads(line) for line in Path("data/train.jsonl").read_text().splitlines()]
    texts = [row.get("content") or row["text"] for row in rows]
    train = [text for index, text in enumerate(texts) if index % 10][: options.texts]
    held_out = texts[::10][:10]
    tokenizer = train_tokenizer(train, options.vocabulary)
    counts = counts_of(tokenizer, train)
    features, head = fit(counts, options)
    provenance = {
        **{"formatVersion": 1, "base": None, "experts": [], "data": options.data},
        **{"tokenizer": "byte-level BPE, trained on the same texts", "trainTokens": int(counts.sum())},
    }
    hand_in(tokenizer, features, head, provenance)
    bits = -(counts_of(tokenizer, held_out) * np.log2(softmax(features @ head.T))).sum()
    print(f"{len(train)} texts, {int(counts.sum())} tokens, vocabulary {len(counts)}, rank {options.rank}")
    print(f"held-out bits per byte: {bits / sum(len(text.encode()) for text in held_out):.3f}")


if __name__ == "__main__":
    main()
