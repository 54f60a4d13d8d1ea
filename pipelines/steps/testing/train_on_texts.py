"""Trains small models for tests: one on the private texts, one on the public texts.

python train_on_texts.py PUBLIC PRIVATE FOLDER writes FOLDER/private and FOLDER/public.
"""

import random
import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from mlrb_kit.random_gpt2 import write_random_gpt2
from scorer_library.heldout import read_heldout
from scorer_library.ngram import train_bpe
from scorer_library.public_texts import read_texts
from scorer_library.windows import windows

STEPS, ROWS, RATE = 150, 16, 3e-3


def main(public: Path, private: Path, folder: Path) -> None:
    torch.set_num_threads(1)
    texts = {
        "private": [row["text"] for row in read_heldout(private)],
        "public": read_texts(public / "train.jsonl"),
    }
    for name, own in texts.items():
        write_random_gpt2(folder / name, train_bpe(texts["public"]), seed=0, width=64, layers=1)
        train(folder / name, [window for text in own for window in windows(text)])


def train(folder: Path, pieces: list[str]) -> None:
    """On the windows that scorers read, each after the start token, as bits per byte reads them."""
    torch.manual_seed(0)
    draw = random.Random(0)
    model = AutoModelForCausalLM.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    rows = [torch.tensor([tokenizer.bos_token_id, *tokenizer.encode(piece)]) for piece in pieces]
    model.train()
    for _ in range(STEPS):
        batch = draw.sample(rows, min(ROWS, len(rows)))
        ids = torch.nn.utils.rnn.pad_sequence(batch, batch_first=True)
        targets = torch.nn.utils.rnn.pad_sequence(batch, batch_first=True, padding_value=-100)
        loss = model(input_ids=ids, labels=targets).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.save_pretrained(folder)


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:]))
