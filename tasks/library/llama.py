"""The given base model: a Llama with tied embeddings, written out in PyTorch with Hugging Face's names.

Written out because importing transformers and peft takes longer than a third of an attempt. An adapter of low
rank (Hu et al. 2021, arXiv:2106.09685) can be trained and merged.
"""

import json
import math
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional as F

from library.device import device

WEIGHTS = "model.safetensors"


class Linear(nn.Module):
    """Without bias. `up` and `down` are the adapter's, while it has one."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs))
        self.register_parameter("up", None)
        self.register_parameter("down", None)
        self.scale = 0.0

    def forward(self, x: Tensor) -> Tensor:
        y = F.linear(x, self.weight)
        if self.up is None or self.down is None:
            return y
        return y + self.scale * F.linear(F.linear(x, self.down), self.up)


class Norm(nn.Module):
    def __init__(self, width: int, epsilon: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width))
        self.epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.weight.shape, self.weight, self.epsilon)


class Attention(nn.Module):
    def __init__(self, width: int, heads: int, given: int) -> None:
        super().__init__()
        self.head = width // heads
        self.q_proj, self.o_proj = Linear(width, width), Linear(width, width)
        self.k_proj, self.v_proj = Linear(width, given * self.head), Linear(width, given * self.head)

    def forward(self, x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:  # (rows, tokens, width) in and out
        query, key, value = (
            part(x).unflatten(-1, (-1, self.head)).transpose(1, 2)
            for part in (self.q_proj, self.k_proj, self.v_proj)
        )
        query, key = turned(query, *turn), turned(key, *turn)
        seen = F.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)
        return self.o_proj(seen.transpose(1, 2).flatten(2))


def turned(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Rotary positions (Su et al. 2021, arXiv:2104.09864) of x (rows, heads, tokens, head)."""
    first, second = x.chunk(2, dim=-1)
    return x * cosine + torch.cat([-second, first], dim=-1) * sine


class Mlp(nn.Module):
    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.gate_proj, self.up_proj = Linear(width, inner), Linear(width, inner)
        self.down_proj = Linear(inner, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Block(nn.Module):
    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        width, heads = config["hidden_size"], config["num_attention_heads"]
        epsilon = config.get("rms_norm_eps", 1e-6)
        self.input_layernorm, self.post_attention_layernorm = Norm(width, epsilon), Norm(width, epsilon)
        self.self_attn = Attention(width, heads, config.get("num_key_value_heads", heads))
        self.mlp = Mlp(width, config["intermediate_size"])

    def forward(self, x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), turn)
        return x + self.mlp(self.post_attention_layernorm(x))


class Body(nn.Module):
    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        width = config["hidden_size"]
        self.embed_tokens = nn.Embedding(config["vocab_size"], width)
        self.layers = nn.ModuleList(Block(config) for _ in range(config["num_hidden_layers"]))
        self.norm = Norm(width, config.get("rms_norm_eps", 1e-6))
        self.head = width // config["num_attention_heads"]
        self.theta = config.get("rope_theta", 10_000.0)

    def forward(self, ids: Tensor) -> Tensor:  # (rows, tokens) in, (rows, tokens, width) out
        """Tokens read those before them only, so padding at the end of a row needs no mask."""
        powers = torch.arange(0, self.head, 2, device=ids.device) / self.head
        angles = torch.outer(torch.arange(ids.shape[1], device=ids.device), self.theta**-powers)
        angles = torch.cat([angles, angles], dim=-1)
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x, (angles.cos(), angles.sin()))
        return self.norm(x)


class Llama(nn.Module):
    """Token ids (rows, tokens) in, logits (rows, tokens, vocabulary) out."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        self.config = config
        self.model = Body(config)

    def logits(self, hidden: Tensor) -> Tensor:
        return F.linear(hidden, self.model.embed_tokens.weight)

    def forward(self, ids: Tensor) -> Tensor:
        return self.logits(self.model(ids))

    def next_logits(self, rows: list[list[int]]) -> Tensor:
        """After the last id of each row, of shape (rows, vocabulary): one pass for all rows."""
        longest = max(map(len, rows))
        padded = [[*row, *[0] * (longest - len(row))] for row in rows]
        hidden = self.model(torch.tensor(padded, device=device()))
        return self.logits(hidden[range(len(rows)), [len(row) - 1 for row in rows]])

    def adapt(self, matrices: Iterable[str], rank: int, alpha: int) -> list[nn.Parameter]:
        """Gives these matrices of every layer an adapter, which changes nothing yet. Returns its weights."""
        names = tuple(f".{name}" for name in matrices)
        trained: list[nn.Parameter] = []
        for name, at in self.named_modules():
            if isinstance(at, Linear) and name.endswith(names):
                outputs, inputs = at.weight.shape
                down = torch.empty(rank, inputs).uniform_(-1, 1) / math.sqrt(inputs)
                at.down = nn.Parameter(down.to(device()))
                at.up = nn.Parameter(torch.zeros(outputs, rank, device=device()))
                at.scale = alpha / rank
                trained += [at.down, at.up]
        return trained

    @torch.no_grad()
    def merge(self) -> None:
        for at in self.modules():
            if isinstance(at, Linear) and at.up is not None and at.down is not None:
                at.weight.add_(at.up @ at.down, alpha=at.scale)
                at.up = at.down = None


def given_model(folder: Path) -> Llama:
    """In F32, whatever it is stored in: that holds every value exactly, small steps are lost between the
    numbers that BF16 knows, and half precision is slow on most CPUs. Its weights are not trained."""
    return model_of(folder, {name: values.float() for name, values in load_file(folder / WEIGHTS).items()})


def model_of(folder: Path, weights: dict[str, Tensor]) -> Llama:
    """A model of these weights, with the settings in `folder`."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    with torch.device("meta"):
        model = Llama(config)
    model.load_state_dict(weights, assign=True)
    return model.requires_grad_(False).to(device())


def save_model(folder: Path, model: Llama, base: Path) -> None:
    """With the tokenizer and the other files of `base`; the weights last, and only when they are whole."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in base.iterdir():
        if path.name != WEIGHTS:
            shutil.copyfile(path, folder / path.name)
    config = {**model.config, "dtype": "float32", "torch_dtype": "float32"}
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    whole = folder.with_name("whole")
    weights = {name: values.cpu().contiguous() for name, values in model.state_dict().items()}
    save_file(weights, whole, metadata={"format": "pt"})
    whole.replace(folder / WEIGHTS)
