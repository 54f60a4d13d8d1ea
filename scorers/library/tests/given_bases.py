"""Small base models of many architectures, trained for a moment, and the steps that change them.

No two of the sizes are equal, so a dimension of a tensor is known by its length.
"""

import copy
import re
from collections.abc import Callable
from typing import Any

import torch
from causal_models import config_of
from identity_rates import TEXTS, text_of
from torch import Tensor
from transformers import AutoModelForCausalLM

State = dict[str, Tensor]
HIDDEN, INNER, VOCABULARY, POSITIONS, LAYERS = 64, 160, 512, 136, 3
HEAD, QUERIES, KEYS = 24, 96, 48  # four query heads, two heads of keys and values
LAYER = re.compile(r"\.(\d+)\.")

# the names that architectures give to the same sizes
SIZES: dict[str, dict[str, Any]] = {
    "hidden": dict.fromkeys(("hidden_size", "n_embd", "d_model", "word_embed_proj_dim"), HIDDEN),
    "inner": dict.fromkeys(("intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size"), INNER),
    "vocabulary": {"vocab_size": VOCABULARY},
    "positions": dict.fromkeys(("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len"), POSITIONS),
    "layers": dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers"), LAYERS),
    "heads": dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads"), 4),
    "key heads": {"num_key_value_heads": 2},
    "head": {"head_dim": HEAD},
}
OTHERS = {
    "pad_token_id": 0,
    "bos_token_id": 0,
    "eos_token_id": 0,
    "rotary_dim": 8,
    "sliding_window": 32,
    "num_local_experts": 2,
}

KINDS = (
    *("llama", "mistral", "gemma", "gpt2", "opt", "phi", "bloom", "gptj", "olmo", "stablelm", "granite"),
    *("mpt", "gpt_bigcode", "arcee", "biogpt", "persimmon", "glm", "mixtral", "mamba"),
    *("qwen2", "qwen3", "gpt_neox", "gpt_neo", "gemma2", "olmo2", "cohere", "codegen", "starcoder2"),
    *("smollm3", "ernie4_5", "exaone4", "xglm", "nemotron", "seed_oss", "hunyuan_v1_dense", "phi3"),
    *("gemma3_text", "falcon", "rwkv", "ministral"),
)


def has(kind: str, *sizes: str) -> bool:
    """Whether each of these sizes is a setting of the architecture."""
    config = config_of(kind, {})
    return all(any(name in config.to_dict() for name in SIZES[size]) for size in sizes)


def config(kind: str, **sizes: Any) -> Any:
    """With the sizes above, or those given by their short name (`layers=2`) or by the library's."""
    known = config_of(kind, {}).to_dict()
    settings: dict[str, Any] = dict(OTHERS)
    for short, names in SIZES.items():
        settings |= dict.fromkeys(names, sizes.pop(short)) if short in sizes else names
    settings = {name: value for name, value in settings.items() if name in known} | sizes
    if kind == "gpt_neo":
        settings["attention_types"] = [[["global"], settings["num_layers"]]]
    return config_of(kind, settings)


def fresh(kind: str, seed: int, **sizes: Any) -> Any:
    torch.manual_seed(seed)
    return AutoModelForCausalLM.from_config(config(kind, **sizes))


def base_of(kind: str, seed: int) -> Any:
    model = fresh(kind, seed)
    tune(model, seed, steps=60, rate=3e-3, files=TEXTS[0])
    return model


def tune(
    model: Any,
    seed: int,
    *,
    steps: int,
    rate: float,
    optimiser: str = "AdamW",
    files: str = TEXTS[1],
    only: Callable[[str], bool] = lambda name: True,
) -> Any:
    """Real training on text; returns the model. `only` chooses parameters by name; the others are frozen."""
    draw = torch.Generator().manual_seed(seed)
    tokens = text_of(files) % min(VOCABULARY, model.get_input_embeddings().weight.shape[0])
    trained = [value for name, value in model.named_parameters() if only(name) and value.is_floating_point()]
    for value in model.parameters():
        value.requires_grad_(any(value is one for one in trained))
    more = {"momentum": 0.9} if optimiser == "SGD" else {}
    step = getattr(torch.optim, optimiser)(trained, lr=rate, **more)
    model.train()
    for _ in range(steps):
        starts = torch.randint(len(tokens) - 48, (4,), generator=draw).tolist()
        batch = torch.stack([tokens[start : start + 48] for start in starts])
        loss = model(input_ids=batch, labels=batch).loss
        step.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        step.step()
    return model.eval()


def copied(model: Any) -> Any:
    return copy.deepcopy(model)


def rebuilt(kind: str, state: State, **sizes: Any) -> Any:
    """A model of other sizes with these tensors; each of its tensors must be among them."""
    model = fresh(kind, 0, **sizes)
    found = model.load_state_dict(state, strict=False)
    assert not found.missing_keys, (kind, found.missing_keys[:3])
    return model


def state_of(model: Any) -> State:
    return {name: value.detach().clone() for name, value in model.state_dict().items()}


def with_layers(state: State, layers: list[int]) -> State:
    """These layers of the given model, in this order."""
    kept = {name: value for name, value in state.items() if not LAYER.search(name)}
    for name, value in state.items():
        if found := LAYER.search(name):
            for new, old in enumerate(layers):
                if int(found[1]) == old:
                    kept[f"{name[: found.start(1)]}{new}{name[found.end(1) :]}"] = value.clone()
    return kept


def selected(state: State, length: int, keep: Tensor) -> State:
    """These places of each dimension of this length."""

    def cut(value: Tensor) -> Tensor:
        for axis, size in enumerate(value.shape):
            if size == length:
                value = value.index_select(axis, keep)
        return value.clone()

    return {name: cut(value) for name, value in state.items()}


def matrices(model: Any) -> list[tuple[str, Any]]:
    """Modules with a matrix that pruning tools change: all but embeddings, norms and the head."""
    ends = (model.get_input_embeddings(), model.get_output_embeddings())
    return [
        (name, module)
        for name, module in model.named_modules()
        if getattr(getattr(module, "weight", None), "ndim", 0) == 2
        and not isinstance(module, torch.nn.Embedding)
        and all(module is not end for end in ends)
    ]
