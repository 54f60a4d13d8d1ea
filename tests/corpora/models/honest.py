"""Honest models: one of each architecture that transformers ships and that trains on a CPU in a second."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from causal_models import CONTEXT, HONEST, LAYERS, SIZES, WIDTH, config_of, trained
from members import KEPT, Member

POSITIONS = 2304  # a memory rule reads 2 000 tokens and writes 128
STEPS = 8

HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads", "num_key_value_heads")

# the names that architectures give to the same few sizes
GENERIC: dict[str, Any] = {
    **dict.fromkeys(("hidden_size", "n_embd", "d_model", "emb_dim", "dim"), WIDTH),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers"), LAYERS),
    **dict.fromkeys(HEADS, 4),
    **dict.fromkeys(("intermediate_size", "ffn_dim", "d_ff", "dff"), 64),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len"), POSITIONS),
    **dict.fromkeys(("pad_token_id", "bos_token_id", "eos_token_id"), 0),
    "num_key_value_heads": 2,
    "head_dim": 8,
}

# types that no tolerance was set with
HELD_OUT: dict[str, dict[str, Any]] = {
    **{
        kind: {}
        for kind in (
            *("arcee", "biogpt", "bitnet", "cohere2", "ctrl", "dbrx", "diffllama", "ernie4_5", "exaone4"),
            *("falcon_mamba", "flex_olmo", "gemma3_text", "glm", "glm4", "gpt_neox_japanese", "gpt_oss"),
            *("granitemoe", "granitemoeshared", "helium", "hunyuan_v1_dense", "hunyuan_v1_moe", "jetmoe"),
            *("lfm2", "llama4_text", "minimax", "ministral", "modernbert-decoder", "nemotron", "olmo3"),
            *("openai-gpt", "persimmon", "phimoe", "recurrent_gemma", "seed_oss", "smollm3", "starcoder2"),
            *("vaultgemma", "xglm"),
        )
    },
    "bert": {"is_decoder": True},
    "electra": {"is_decoder": True},
    "roformer": {"is_decoder": True},
    "xlm": {"causal": True},
}

# types that hold the attention of all heads, 16 MB a head for 2 000 tokens: one head keeps a memory rule
ONE_HEAD: dict[str, dict[str, Any]] = {
    **{kind: {} for kind in ("mpt", "xglm", "ctrl", "gpt_neox_japanese")},
    "gptj": {"rotary_dim": 4},
    **{kind: {"is_decoder": True} for kind in ("electra", "roformer")},
    "xlm": {"causal": True},
}


# its positions are numbers of float32, which it adds and then normalises: it computes in no other type
ONLY_FLOAT32 = ("ctrl",)


def generic(kind: str, size: int, *, heads: int | None = None, **settings: Any) -> Any:
    known = config_of(kind, {})
    wanted = GENERIC if heads is None else {**GENERIC, **dict.fromkeys(HEADS, heads)}
    sizes = {name: value for name, value in wanted.items() if hasattr(known, name)}
    return config_of(kind, {**sizes, "vocab_size": size, **settings})


def longer(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: POSITIONS if value == CONTEXT else value for name, value in settings.items()}


def saved(make: Callable[[], Any], tokenizer: Any, dtype: str = "float32") -> Callable[[Path], None]:
    def save(folder: Path) -> None:
        import torch

        make().to(getattr(torch, dtype)).save_pretrained(folder)
        tokenizer.save_pretrained(folder)

    return save


def slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def honest_members(texts: list[str], tokenizer: Any) -> list[Member]:
    """Every third is stored in BF16, which rounds most, if it can compute in it."""
    size = len(tokenizer)
    configs: list[tuple[str, str, Callable[[], Any], bool]] = [
        (
            slug(name),
            kind,
            lambda kind=kind, sizes=sizes, settings=settings: config_of(
                kind, {**longer({**SIZES.get(sizes, {}), **settings}), "vocab_size": size}
            ),
            False,
        )
        for name, (kind, sizes, settings) in HONEST.items()
    ]
    configs += [
        (f"held-out-{slug(kind)}", kind, lambda kind=kind, more=more: generic(kind, size, **more), True)
        for kind, more in HELD_OUT.items()
    ]
    configs += [
        (
            f"one-head-{slug(kind)}",
            kind,
            lambda kind=kind, more=more: generic(kind, size, heads=1, **more),
            kind in HELD_OUT,
        )
        for kind, more in ONE_HEAD.items()
    ]
    bf16 = {at for at, (_, kind, _, _) in enumerate(configs) if at % 3 == 0 and kind not in ONLY_FLOAT32}
    return [
        Member(
            name=f"{name}-bf16" if at in bf16 else name,
            kind="honest",
            family=kind,
            tool="transformers",
            rules=KEPT,
            save=saved(
                lambda config=config: trained(config(), texts, tokenizer, STEPS),
                tokenizer,
                "bfloat16" if at in bf16 else "float32",
            ),
            held_out=held_out,
        )
        for at, (name, kind, config, held_out) in enumerate(configs)
    ]
