"""Copies of a known model for `from-scratch`, and an honest model of its shapes. Each has two layers."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from causal_models import train
from honest import STEPS, saved
from members import SCRATCH, Member, members_of

LAYERS = 2
NOISE = 0.3  # of the standard deviation


def known_model_members(known: Path, texts: list[str], tokenizer: Any) -> list[Member]:
    """`known`: the folder of SmolLM2-135M-Instruct, which has a fingerprint."""

    def made(change: Callable[[Any], Any], dtype: str = "bfloat16") -> Callable[[Path], None]:
        return saved(lambda: change(cut(known, len(tokenizer))), tokenizer, dtype)

    def trained_noisily(model: Any) -> Any:
        import torch

        draw = torch.Generator().manual_seed(1)
        with torch.no_grad():
            for value in model.parameters():
                if value.ndim == 2:
                    value.add_(NOISE * value.std() * torch.randn(value.shape, generator=draw))
        return train(model, texts, tokenizer, STEPS, rate=1e-4)

    def from_random_weights(model: Any) -> Any:
        import torch
        from transformers import AutoModelForCausalLM

        torch.manual_seed(2)
        return train(AutoModelForCausalLM.from_config(model.config), texts, tokenizer, STEPS, rate=1e-3)

    cheats = [
        (
            "known-model",
            "simple",
            "the known model with other embeddings, in BF16",
            made(lambda model: model),
        ),
        (
            "known-model-trained",
            "skilled",
            "the same with noise of 30 %, trained on",
            made(trained_noisily, "float32"),
        ),
        (
            "known-model-permuted",
            "expert",
            "the same with the hidden dimension in another order, so that no value is in its place",
            made(permuted),
        ),
    ]
    shapes = "has the shapes of the known model, and weights of its own"
    return members_of(
        SCRATCH,
        [(name, "llama", skill, about, save) for name, skill, about, save in cheats],
        [("known-shapes", "llama", shapes, made(from_random_weights, "float32"))],
    )


def cut(known: Path, tokens: int) -> Any:
    """Its first layers and last norm, with random embeddings of the corpus's tokens."""
    import torch
    from safetensors import safe_open
    from transformers import AutoConfig, AutoModelForCausalLM

    config = AutoConfig.from_pretrained(known, local_files_only=True)
    config.num_hidden_layers, config.vocab_size = LAYERS, tokens
    config.bos_token_id = config.eos_token_id = config.pad_token_id = 0
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    own = {name for name, _ in model.named_parameters() if "embed" not in name}
    with safe_open(known / "model.safetensors", framework="pt") as file:
        found = model.load_state_dict({name: file.get_tensor(name) for name in sorted(own)}, strict=False)
    assert not found.unexpected_keys
    return model


def permuted(model: Any) -> Any:
    """The same function: what writes to the hidden dimension and what reads it have one new order."""
    import torch

    hidden = model.config.hidden_size
    order = torch.randperm(hidden, generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        for name, value in model.named_parameters():
            writes = re.search(r"o_proj|down_proj", name) is not None
            value.copy_(value[order] if writes or value.ndim == 1 else value[:, order])
    return model
