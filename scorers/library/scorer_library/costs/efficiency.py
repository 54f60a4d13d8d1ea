"""Counts a submission's parameters, bytes and compute per token; efficiency_speed measures times.

Parameters and bytes come from the safetensors headers. Compute per token is a formula over the shapes in
config.json, never a measurement: forward pass, 2 FLOPs for each multiply-add,

    2 M + 2 L T d

where M is the number of elements of the matrices that multiply every token (attention, MLP and the output
head; not the embedding lookup), L layers, T tokens of context and d the width of attention: scores
and their weighted sum cost 4 t d a layer at position t, 2 T d on average over the positions of a text
(Kaplan et al. 2020, arXiv:2001.08361, section 2.1 and table 1, plus the head). Both parts of an
encoder-decoder read each token: a layer of the encoder attends to all T tokens (4 T d), one of the decoder to
the tokens before (2 T d) and to all of the encoder's (4 T d).
"""

import json
from math import prod
from pathlib import Path
from typing import Any

from safetensors import safe_open

from mlrb_kit.rejected import Rejected
from mlrb_kit.stored import weight_files
from mlrb_kit.submission import is_encoder_decoder, sketch_model

BITS = {
    "F64": 64,
    "F32": 32,
    "F16": 16,
    "BF16": 16,
    "I64": 64,
    "I32": 32,
    "I16": 16,
    "I8": 8,
    "U8": 8,
    "BOOL": 8,
}
BITS |= {"U64": 64, "U32": 32, "U16": 16, "F8_E4M3": 8, "F8_E5M2": 8}


def stored_size(folder: Path) -> dict[str, int]:
    """Elements and bytes of all tensors, and bytes of the files, without loading a tensor."""
    parameters = size = 0
    files = weight_files(folder)
    for path in files:
        with safe_open(path, framework="pt") as file:
            for name in file.keys():  # noqa: SIM118 (a safe_open is not a dict)
                part = file.get_slice(name)
                elements = prod(part.get_shape())
                if part.get_dtype() not in BITS:
                    raise Rejected(f"{name} is stored as {part.get_dtype()}, of no known size")
                parameters += elements
                size += elements * BITS[part.get_dtype()] // 8
    return {"parameters": parameters, "bytes": size, "fileBytes": sum(path.stat().st_size for path in files)}


def compute_a_token(folder: Path, tokens: int) -> dict[str, int]:
    """FLOPs per token, averaged over a text of `tokens` tokens, from config.json; no weights are loaded."""
    model = sketch_model(folder)
    matrices = sum(module.weight.numel() for module in model.modules() if multiplies(module))
    attention = 2 * tokens * attention_sizes(model.config)
    return {"flopsPerToken": 2 * matrices + attention, "multipliedParameters": matrices}


def multiplies(module: Any) -> bool:
    """nn.Linear and GPT-2's transposed Conv1D; each has one matrix, also the head where it is tied."""
    return (
        type(module).__name__ in ("Linear", "Conv1D")
        and getattr(module, "weight", None) is not None
        and (module.weight.dim() == 2)
    )


def attention_sizes(config: Any) -> int:
    """Layers times width, counted twice where a token attends to a whole text."""
    if not is_encoder_decoder(config):
        layers, width = attention_shape(config)
        return layers * width
    encoder = attention_shape(getattr(config, "encoder", config))
    decoder = attention_shape(getattr(config, "decoder", config))
    names = ("decoder_layers", "num_decoder_layers")  # of BART and T5, whose parts share a configuration
    layers = next((own for name in names if isinstance(own := getattr(config, name, None), int)), decoder[0])
    return 2 * encoder[0] * encoder[1] + 3 * layers * decoder[1]


def attention_shape(config: Any) -> tuple[int, int]:
    """Layers, and the width of attention: heads times the width of a head."""
    text = config.get_text_config() if hasattr(config, "get_text_config") else config
    layers = getattr(text, "num_hidden_layers", None)
    heads, hidden = getattr(text, "num_attention_heads", None), getattr(text, "hidden_size", None)
    each = getattr(text, "head_dim", None)
    if isinstance(layers, int) and isinstance(heads, int) and isinstance(each, int):
        return layers, heads * each
    if isinstance(layers, int) and isinstance(hidden, int):
        return layers, hidden
    raise Rejected("config.json has neither layers nor width, so its compute cannot be counted")


def read_settings(private: Path, defaults: dict[str, int]) -> dict[str, int]:
    """cost.json of the private data over the defaults. Raises where the data stage's file is wrong."""
    if not private.is_dir():
        raise FileNotFoundError("the private data is missing: the data stage is at fault, not the submission")
    path = private / "cost.json"
    given = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    known = {name: value for name, value in given.items() if name in defaults}
    if any(type(value) is not int or value < 1 for value in known.values()):
        raise ValueError(f"cost.json: {', '.join(defaults)} are whole numbers from 1")
    return {**defaults, **known}
