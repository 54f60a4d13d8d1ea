"""Small models for tests of memory."""

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from tokenizers.models import BPE
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

MB = 10**6


def save(folder: Path, model: Any) -> Path:
    model.save_pretrained(folder)
    tokenizer = Tokenizer(BPE({"a": 0, "<start>": 1}, []))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<start>").save_pretrained(folder)
    return folder


def save_wide(folder: Path, *, positions: int = 4096) -> Path:
    """A model of 2 MB whose MLP holds 160 MB for 2 000 tokens, several times."""
    config = LlamaConfig(
        vocab_size=64,
        hidden_size=8,
        intermediate_size=20_000,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=positions,
    )
    return save(folder, LlamaForCausalLM(config))


def save_small(folder: Path, *, positions: int = 2200, unusable: bool = False) -> Path:
    model = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=positions, n_embd=16, n_layer=1, n_head=2))
    if unusable:
        with torch.no_grad():
            model.transformer.wte.weight[0, 0] = float("nan")
    return save(folder, model)


def settings(limit: int, new: int = 8) -> dict[str, int]:
    return {"limitBytes": limit, "forwardTokens": 2000, "newTokens": new}
