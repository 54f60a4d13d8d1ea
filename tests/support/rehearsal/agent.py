"""What the scripted agent of the rehearsal runs in its sandbox, at every task: it submits a small model."""

import json
import os
from pathlib import Path

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error")

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
)

TEXT = Path("TASK.md").read_text(encoding="utf-8")


def compressed() -> None:
    """The smaller half of each matrix becomes zero."""
    model = AutoModelForCausalLM.from_pretrained("models/base")
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim == 2:
                weight[weight.abs() < weight.abs().float().median()] = 0
    model.save_pretrained("submission")
    AutoTokenizer.from_pretrained("models/base").save_pretrained("submission")


def from_scratch() -> None:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([TEXT], trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<|endoftext|>", eos_token="<|endoftext|>"
    )
    sizes = {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 2304}
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(fast), bos_token_id=0, eos_token_id=0, **sizes))
    ids = torch.tensor([fast.encode(TEXT)[:257]])
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(10):
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(json.dumps({"loss": loss.item()}))
    model.save_pretrained("submission")
    fast.save_pretrained("submission")


if __name__ == "__main__":
    compressed() if Path("models/base").exists() else from_scratch()
