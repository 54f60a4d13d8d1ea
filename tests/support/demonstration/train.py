"""Trains a GPT-2 from scratch on data/ and hands it in; prints nothing that differs between machines."""

import argparse
import json
import os
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

END = "<|end|>"


def train_tokenizer(texts: list[str]) -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=1000, special_tokens=[END], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=END, eos_token=END, clean_up_tokenization_spaces=False
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--width", type=int, required=True)
    asked = parser.parse_args()
    torch.manual_seed(int(os.environ["MLRB_SEED"]))
    torch.set_num_threads(1)
    rows = [json.loads(line) for line in Path("data/train.jsonl").read_text(encoding="utf-8").splitlines()]
    texts = [row["content"] for row in rows]
    held_out, seen = texts[::10][:4], [text for at, text in enumerate(texts) if at % 10 > 0][::6]
    tokenizer = train_tokenizer(seen)
    ids = torch.tensor([token for text in seen for token in [0, *tokenizer.encode(text)]])
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=256,
        n_embd=asked.width,
        n_layer=1,
        n_head=4,
        bos_token_id=0,
        eos_token_id=0,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
    )
    model = GPT2LMHeadModel(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(asked.steps):
        starts = torch.randint(len(ids) - 128, (8, 1))
        batch = ids[starts + torch.arange(128)]
        loss = model(batch, labels=batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.eval()
    with torch.no_grad():
        rest = torch.tensor([[0, *tokenizer.encode(text)[:255]] for text in held_out])
        loss_held_out = model(rest, labels=rest).loss.item()
    # to the digit in which machines agree
    print(f"held-out loss: {loss_held_out:.1f}")
    model.save_pretrained("submission", safe_serialization=True)
    tokenizer.save_pretrained("submission")
    Path("submission/generation_config.json").unlink(missing_ok=True)
    provenance = {
        "formatVersion": 1,
        "base": None,
        "experts": [],
        "data": ["brown-smoke"],
        "tokenizer": "trained on data/",
        "trainTokens": asked.steps * 8 * 128,
    }
    Path("submission/provenance.json").write_text(json.dumps(provenance), encoding="utf-8")
    print(f"handed in: {asked.steps} steps, width {asked.width}")


if __name__ == "__main__":
    main()
