"""Reads the training text and trains the tokenizer: byte-level BPE, so that no text is ever unknown."""

import json
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

END = "<|endoftext|>"  # starts every row and ends every text
DEV_EVERY = 25  # every 25th text is kept out of training, to measure on


def read_texts(path: Path) -> tuple[list[str], list[str]]:
    """The texts to train on and those to measure on."""
    with path.open(encoding="utf-8") as lines:
        texts = [json.loads(line)["content"] for line in lines]
    dev = texts[DEV_EVERY - 1 :: DEV_EVERY]
    train = [text for at, text in enumerate(texts) if at % DEV_EVERY != DEV_EVERY - 1]
    return train, dev


def train_tokenizer(texts: list[str], vocabulary: int) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=vocabulary,
            special_tokens=[END],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    return tokenizer
