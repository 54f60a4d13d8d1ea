"""What compressing tools take away from a base, without training: tokens, layers, neurons, heads, values."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from given_bases import (
    HEAD,
    HIDDEN,
    INNER,
    KEYS,
    LAYERS,
    QUERIES,
    VOCABULARY,
    config,
    copied,
    has,
    matrices,
    rebuilt,
    selected,
    state_of,
    with_layers,
)
from torch import Tensor
from torch.nn.utils import prune

FUSED = ("glm", "mamba", "phi3")  # they join matrices whose sizes are cut together


@dataclass
class Draw:
    """Random choices from a seed, with the kind of the base's architecture."""

    kind: str
    seed: int
    notes: list[str] = field(default_factory=list)  # what was chosen, for the table

    def __post_init__(self) -> None:
        self.generator = torch.Generator().manual_seed(self.seed)

    def pick(self, options: Any) -> Any:
        chosen = options[int(torch.randint(len(options), (1,), generator=self.generator))]
        self.notes.append(str(chosen))
        return chosen

    def places(self, length: int, kept: int) -> Tensor:
        return torch.randperm(length, generator=self.generator)[:kept].sort().values


def sized(*names: str) -> Callable[[str], bool]:
    return lambda kind: kind not in FUSED and has(kind, *names)


def is_tied(kind: str) -> bool:
    return bool(getattr(config(kind), "tie_word_embeddings", False)) and kind not in ("rwkv", "mamba")


def cast(model: Any, dtype: str) -> Any:
    return model.to(getattr(torch, dtype))


def fewer_tokens(base: Any, draw: Draw) -> Any:
    kept = draw.pick([VOCABULARY // 2, VOCABULARY - 40])
    state = selected(state_of(base), VOCABULARY, draw.places(VOCABULARY, kept))
    return rebuilt(draw.kind, state, vocabulary=kept)


def layers(base: Any, kept: list[int], draw: Draw) -> Any:
    return rebuilt(draw.kind, with_layers(state_of(base), kept), layers=len(kept))


def fewer_layers(base: Any, draw: Draw) -> Any:
    ways = [[0, 1], [0, 2], [1, 2], [0]]
    # RWKV needs its first layer, and a second one
    return layers(base, draw.pick(ways[:2] if draw.kind == "rwkv" else ways), draw)


def fewer_neurons(base: Any, draw: Draw) -> Any:
    kept = draw.pick([INNER // 2, INNER * 3 // 4])
    return rebuilt(draw.kind, selected(state_of(base), INNER, draw.places(INNER, kept)), inner=kept)


def fewer_heads(base: Any, draw: Draw) -> Any:
    """One of two heads of keys and values, and the two query heads that read it."""
    at = draw.pick([0, 1])
    state = selected(state_of(base), KEYS, torch.arange(HEAD) + at * HEAD)  # first: half of QUERIES is KEYS
    state = selected(state, QUERIES, torch.arange(KEYS) + at * KEYS)
    return rebuilt(draw.kind, state, **{"heads": 2, "key heads": 1})


def fewer_units(base: Any, draw: Draw) -> Any:
    """Units of the hidden dimension removed, in all layers."""
    kept = draw.pick([HIDDEN // 2, HIDDEN - 16])
    return rebuilt(draw.kind, selected(state_of(base), HIDDEN, draw.places(HIDDEN, kept)), hidden=kept)


def with_tying(base: Any, draw: Draw, tied: bool) -> Any:
    """With the embeddings as head: in its place, or once more."""
    state = state_of(base)
    head, table = base.get_output_embeddings(), base.get_input_embeddings()
    names = [name for name, module in base.named_modules() if module is head]
    state |= {f"{name}.weight": table.weight.detach().clone() for name in names}
    return rebuilt(draw.kind, state, tie_word_embeddings=tied)


def untied(base: Any, draw: Draw) -> Any:
    return with_tying(base, draw, tied=False)


def can_be_tied(kind: str) -> bool:
    return kind not in FUSED and not is_tied(kind) and hasattr(config(kind), "tie_word_embeddings")


def tied(base: Any, draw: Draw) -> Any:
    """The embeddings take the place of the head."""
    return with_tying(base, draw, tied=True)


def sparse(model: Any, draw: Draw, how: str) -> Any:
    """Pruned by torch's own tool, or in groups of rows; the masks stay until `remove_masks`."""
    share = draw.pick([0.3, 0.5, 0.7, 0.9])
    modules = [module for _, module in matrices(model)]
    if how == "global":
        chosen = [(module, "weight") for module in modules]
        prune.global_unstructured(chosen, prune.L1Unstructured, amount=share)
    for module in modules:
        if how == "each":
            prune.l1_unstructured(module, "weight", amount=share)
        elif how == "rows":
            prune.ln_structured(module, "weight", amount=share / 2, n=2, dim=0)
        elif how == "random":
            prune.random_unstructured(module, "weight", amount=share / 2)
        elif how == "2:4":
            prune.custom_from_mask(module, "weight", two_of_four(module.weight.detach()))
        elif how == "in rows":  # each row by its own threshold, scaled by inputs, as Wanda does
            scale = torch.rand(module.weight.shape[1], generator=draw.generator) + 0.5
            prune.custom_from_mask(module, "weight", largest(module.weight.detach() * scale, share))
    return model


def largest(scores: Tensor, share: float) -> Tensor:
    """Of each row, all but this share."""
    least = scores.abs().kthvalue(max(1, int(share * scores.shape[1])), dim=1, keepdim=True).values
    return (scores.abs() > least).float()


def two_of_four(values: Tensor) -> Tensor:
    groups = values.abs().reshape(-1, 4) if values.numel() % 4 == 0 else values.abs()
    kept = groups >= groups.topk(2, dim=-1).values[..., -1:]
    return kept.reshape(values.shape).float()


def remove_masks(model: Any) -> Any:
    for _, module in matrices(model):
        if prune.is_pruned(module):
            prune.remove(module, "weight")
    return model


def pruned(base: Any, draw: Draw) -> Any:
    return remove_masks(sparse(copied(base), draw, draw.pick(["each", "global", "random"])))


def pruned_by_groups(base: Any, draw: Draw) -> Any:
    return remove_masks(sparse(copied(base), draw, draw.pick(["rows", "2:4", "in rows"])))


def without_sublayer(base: Any, draw: Draw) -> Any:
    """The matrices of one layer's attention or feed-forward part set to zero."""
    model, layer = copied(base), draw.pick(range(LAYERS))
    inside = [module for name, module in matrices(model) if f".{layer}." in f".{name}."]
    with torch.no_grad():
        for module in inside[len(inside) // 2 :] if draw.pick([True, False]) else inside[:1]:
            module.weight.zero_()
    return model


def fewer_of_all(base: Any, draw: Draw) -> Any:
    """Layers, then neurons, then values, in half precision."""
    kept, size = draw.pick([[0, 2], [0, 1]]), INNER // 2
    state = selected(with_layers(state_of(base), kept), INNER, draw.places(INNER, size))
    model = rebuilt(draw.kind, state, layers=len(kept), inner=size)
    return cast(remove_masks(sparse(model, draw, "each")), draw.pick(["bfloat16", "float16"]))
