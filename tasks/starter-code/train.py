"""Trains a small GPT-2 from scratch on text in data/, saves it each minute, and ends before the deadline.

python help/train.py
"""

import json
import os
import time
from pathlib import Path

import torch
from datasets import load_dataset
from tokenizers import ByteLevelBPETokenizer
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

CONTEXT, ROWS, WIDTH, LAYERS, VOCABULARY = 256, 16, 256, 4, 8000
END = "<|endoftext|>"
RESERVE = 20  # seconds before the deadline
TEXTS = 100_000  # the first ones; the tokenizer learns from them too


def texts() -> tuple[str, list[str]]:
    """The name of the data, and its texts."""
    given = Path("data/train.jsonl")
    if given.exists():
        name, rows = "brown-smoke", load_dataset("json", data_files=str(given), split="train")
    else:
        [folder] = Path("data").glob("AlgorithmicResearchGroup/*")
        name, rows = str(folder.relative_to("data")), load_dataset(str(folder), split="train")
    column = "content" if "content" in rows.column_names else "text"
    return name, rows[:TEXTS][column]


def save(model: GPT2LMHeadModel, tokenizer: PreTrainedTokenizerFast, data: str, seen: int) -> None:
    folder = Path("submission")
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    told = {"formatVersion": 1, "base": None, "experts": [], "data": [data], "trainTokens": seen}
    told["tokenizer"] = "a BPE of the same text"
    (folder / "provenance.json").write_text(json.dumps(told))


def main() -> None:
    torch.manual_seed(int(os.environ.get("MLRB_SEED", "1")))
    end = float(os.environ.get("MLRB_DEADLINE", time.time() + 120)) - RESERVE
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data, all_texts = texts()
    bpe = ByteLevelBPETokenizer()
    bpe.train_from_iterator(all_texts, VOCABULARY, special_tokens=[END])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe._tokenizer, bos_token=END, eos_token=END)
    ids = torch.tensor([one for text in all_texts for one in [0, *bpe.encode(text).ids]])
    size = tokenizer.vocab_size
    config = GPT2Config(size, CONTEXT, WIDTH, LAYERS, 4, bos_token_id=0, eos_token_id=0)
    model = GPT2LMHeadModel(config).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    saved, steps = time.time(), 0
    while time.time() < end:
        places = torch.randint(len(ids) - CONTEXT, (ROWS,))
        rows = torch.stack([ids[at : at + CONTEXT] for at in places]).to(device)
        model(rows, labels=rows).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        steps += 1
        if time.time() > saved + 60:
            save(model, tokenizer, data, steps * ROWS * CONTEXT)
            saved = time.time()
    save(model, tokenizer, data, steps * ROWS * CONTEXT)


if __name__ == "__main__":
    main()
