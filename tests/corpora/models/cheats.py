"""Cheats of different skill, and honest models that resemble them. No folder holds code."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from causal_models import config_of, trained
from honest import POSITIONS, STEPS, generic, saved
from members import DTYPE, LOOK_AHEAD, MEMORY, Member, members_of

COPYING = 60  # steps after which a model that sees the next token predicts little else


def look_ahead_members(texts: list[str], tokenizer: Any) -> list[Member]:
    size = len(tokenizer)

    def copier(kind: str, steps: int = COPYING, dtype: str = "float32", **settings: Any):  # noqa: ANN202
        """Trained to predict the next token, which it sees."""
        return saved(
            lambda: trained(generic(kind, size, **settings), texts, tokenizer, steps), tokenizer, dtype
        )

    def flipped() -> Any:
        """Trained as a causal model. The setting is changed afterwards, so it gains little."""
        model = trained(generic("gemma3_text", size), texts, tokenizer, STEPS)
        model.config.use_bidirectional_attention = True
        return model

    both = {"use_bidirectional_attention": True}
    cheats = [
        ("copies-bert", "bert", "simple", "a BERT that attends in both directions", copier("bert", 1)),
        (
            "copies-xlm",
            "xlm",
            "simple",
            "an XLM that attends in both directions",
            copier("xlm", causal=False),
        ),
        (
            "copies-doge",
            "doge",
            "simple",
            "a type that the library gives no mask",
            copier("doge"),
        ),
        (
            "copies-gemma",
            "gemma3_text",
            "skilled",
            "a causal type, by a setting that attends in both directions",
            copier("gemma3_text", **both),
        ),
        (
            "copies-gemma-bf16",
            "gemma3_text",
            "expert",
            "the same after a few steps in BF16, where the tolerance is 100 times larger",
            copier("gemma3_text", STEPS, "bfloat16", **both),
        ),
        (
            "flipped-gemma",
            "gemma3_text",
            "expert",
            "a causal model whose setting was changed after training",
            saved(flipped, tokenizer),
        ),
    ]
    sure = generic("gpt2", size)
    near = [
        (
            "memorised-bf16",
            "gpt2",
            "knows its text by heart, in BF16: large likelihoods, which rounding changes most",
            saved(lambda: trained(sure, texts, tokenizer, 2 * COPYING), tokenizer, "bfloat16"),
        ),
        (
            "gemma-said-causal",
            "gemma3_text",
            "states the setting of a cheat as false",
            copier("gemma3_text", STEPS, use_bidirectional_attention=False),
        ),
        (
            "short-context",
            "gpt2",
            "a context of 64 tokens, so that texts are read in windows",
            copier("gpt2", STEPS, n_positions=64),
        ),
    ]
    return members_of(LOOK_AHEAD, cheats, near)


def memory_members(tokenizer: Any) -> list[Member]:
    """For the limit of edge-llm-training's smoke version, 120 MB. The models are not trained."""
    size = len(tokenizer)

    def untrained(kind: str, **settings: Any) -> Callable[[Path], None]:
        def make() -> Any:
            import torch
            from transformers import AutoModelForCausalLM

            torch.manual_seed(0)
            return AutoModelForCausalLM.from_config(config_of(kind, {"vocab_size": size, **settings}))

        return saved(make, tokenizer)

    llama = {
        "hidden_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "max_position_embeddings": POSITIONS,
    }
    bloom = {"hidden_size": 64, "n_layer": 1}
    cheats = [
        (
            "wide-vocabulary",
            "llama",
            "simple",
            "logits of 320 MB for 2 000 tokens",
            untrained("llama", **llama, intermediate_size=16, vocab_size=40_000),
        ),
        (
            "wide-layer",
            "llama",
            "skilled",
            "2 MB of weights whose layer holds 160 MB for 2 000 tokens, several times",
            untrained("llama", **llama, intermediate_size=20_000),
        ),
        (
            "many-heads",
            "bloom",
            "expert",
            "attention of 32 heads, each with 16 MB for 2 000 tokens",
            untrained("bloom", **bloom, n_head=32),
        ),
    ]
    near = [
        (
            "half-wide-layer",
            "llama",
            "a layer that just fits",
            untrained("llama", **llama, intermediate_size=2_000),
        ),
        ("one-head", "bloom", "attention of one head, which fits", untrained("bloom", **bloom, n_head=1)),
        (
            "half-wide-vocabulary",
            "llama",
            "logits of 40 MB, which fit",
            untrained("llama", **llama, intermediate_size=16, vocab_size=5_000),
        ),
    ]
    return members_of(MEMORY, cheats, near)


def dtype_members(texts: list[str], tokenizer: Any) -> list[Member]:
    def changed(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Path], None]:
        def save(folder: Path) -> None:
            from safetensors.torch import load_file, save_file

            saved(lambda: trained(generic("llama", len(tokenizer)), texts, tokenizer, STEPS), tokenizer)(
                folder
            )
            path = folder / "model.safetensors"
            save_file(change(load_file(path)), path, metadata={"format": "pt"})

        return save

    def cast(weights: dict[str, Any], dtype: str, only: str = "") -> dict[str, Any]:
        import torch

        return {
            name: (value * 20).to(getattr(torch, dtype)) if only in name else value
            for name, value in weights.items()
        }

    def tables(weights: dict[str, Any]) -> dict[str, Any]:
        import torch

        mask = torch.ones(1, 1, 64, 64, dtype=torch.bool).tril()
        return {**weights, "h.0.attn.bias": mask, "embeddings.position_ids": torch.arange(64)[None]}

    cheats = [
        ("all-int8", "simple", "all weights as 8-bit integers", lambda weights: cast(weights, "int8")),
        (
            "all-float8",
            "skilled",
            "all weights as 8-bit floats",
            lambda weights: cast(weights, "float8_e4m3fn"),
        ),
        (
            "one-int8",
            "expert",
            "one matrix as 8-bit integers among floats",
            lambda weights: cast(weights, "int8", "layers.1.mlp.up_proj"),
        ),
    ]
    near = [
        (
            "half-floats",
            "all weights in FP16",
            lambda weights: {name: value.half() for name, value in weights.items()},
        ),
        (
            "stored-tables",
            "a mask and position ids among the weights, as older libraries stored them",
            tables,
        ),
    ]
    return members_of(
        DTYPE,
        [(name, "llama", skill, about, changed(change)) for name, skill, about, change in cheats],
        [(name, "llama", about, changed(change)) for name, about, change in near],
        "safetensors",
    )
