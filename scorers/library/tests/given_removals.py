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
    return layers(base, draw.pick([[0, 1], [0, 2], [1, 2], [0]]), draw)


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


def untied(base: Any, draw: Draw) -> Any:
    state = state_of(base)
    head, table = base.get_output_embeddings(), base.get_input_embeddings()
    names = [name for name, module in base.named_modules() if module is head]
    state |= {f"{name}.weight": table.weight.detach().clone() for name in names}
    return rebuilt(draw.kind, state, tie_word_embeddings=False)


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


def every_place(length: int, draw: Draw, how: str) -> Tensor:
    """An order of all places: of all of them, or of a few."""
    order = torch.arange(length)
    some = torch.arange(length) if how == "all" else draw.places(length, max(2, length // 8))
    order[some] = order[some[torch.randperm(len(some), generator=draw.generator)]]
    return order


def in_layer(state: dict[str, Tensor], layer: int) -> dict[str, Tensor]:
    return {name: value for name, value in state.items() if f".{layer}." in f".{name}."}


def moved_neurons(base: Any, draw: Draw) -> Any:
    """Neurons in another order, in one layer or all, and all of them or a few: the same function."""
    state, how = state_of(base), draw.pick(["all", "some"])
    for layer in draw.pick([[0, 1, 2], [1]]):
        order = every_place(INNER, draw, how)
        part = selected(in_layer(state, layer), INNER, order)
        state |= selected(part, 2 * INNER, torch.cat([order, order + INNER]))  # joined gate and input
    return same_function(rebuilt(draw.kind, state), base, draw)


def neurons_moved_up(base: Any, draw: Draw) -> Any:
    """Neurons removed at equal shapes: those that are left come first, and the rest is zero."""
    state, kept = state_of(base), draw.pick([INNER // 2, INNER * 3 // 4, INNER - 8])
    for layer in range(LAYERS):
        places = torch.cat([draw.places(INNER, kept), torch.full((INNER - kept,), INNER)])
        part = in_layer(state, layer)
        for axis in (0, 1):
            part = {
                name: torch.cat([value, torch.zeros_like(value.narrow(axis, 0, 1))], axis).index_select(
                    axis, places
                )
                if axis < value.ndim and value.shape[axis] == INNER
                else value
                for name, value in part.items()
            }
        state |= part
    return rebuilt(draw.kind, state)


def moved_heads(base: Any, draw: Draw) -> Any:
    """Both heads of keys in another order, with their query heads; these also in another order."""
    keys = torch.arange(KEYS).reshape(2, HEAD)[draw.pick([[1, 0], [0, 1]])].flatten()
    queries = torch.arange(QUERIES).reshape(2, 2, HEAD)[:, [1, 0]]
    queries = queries[[1, 0]].flatten() if int(keys[0]) > 0 else queries.flatten()
    state = selected(selected(state_of(base), QUERIES, queries), KEYS, keys)
    return same_function(rebuilt(draw.kind, state), base, draw)


def moved_units(base: Any, draw: Draw) -> Any:
    """Hidden units in another order: the same function. Neurons too, and tokens, by the draw."""
    state, how = state_of(base), draw.pick(["all", "some"])
    state = selected(state, HIDDEN, every_place(HIDDEN, draw, how))
    if draw.pick([True, False]):
        state = selected(state, INNER, every_place(INNER, draw, how))
    same_function(rebuilt(draw.kind, state), base, draw)
    if draw.pick([True, False]):
        state = selected(state, VOCABULARY, every_place(VOCABULARY, draw, how))
    return rebuilt(draw.kind, state)


def moved_layers(base: Any, draw: Draw) -> Any:
    return layers(base, draw.pick([[2, 0, 1], [1, 0, 2], [0, 2, 1], [2, 0]]), draw)


def moved_experts(base: Any, draw: Draw) -> Any:
    """Two experts in the other order, or one of them."""
    kept = draw.pick([[1, 0], [0], [1]])
    state = {}
    for name, value in state_of(base).items():
        head, mark, rest = name.partition(".experts.")
        if name.endswith("gate.weight"):
            state[name] = value[kept]
        elif not mark:
            state[name] = value
        elif int(rest[0]) in kept:
            state[f"{head}{mark}{kept.index(int(rest[0]))}{rest[1:]}"] = value
    return rebuilt(draw.kind, state, num_local_experts=len(kept), num_experts_per_tok=len(kept))


def fewer_units_and_tokens(base: Any, draw: Draw) -> Any:
    units, tokens = draw.pick([HIDDEN // 2, HIDDEN - 16]), draw.pick([VOCABULARY // 2, VOCABULARY - 40])
    state = selected(state_of(base), HIDDEN, draw.places(HIDDEN, units))
    state = selected(state, VOCABULARY, draw.places(VOCABULARY, tokens))
    return rebuilt(draw.kind, state, hidden=units, vocabulary=tokens)


def fewer_of_everything(base: Any, draw: Draw) -> Any:
    """Layers, heads, neurons, hidden units and tokens."""
    units, inner, tokens = HIDDEN - 16, INNER // 2, VOCABULARY - 40
    state = with_layers(state_of(base), [0, 2])
    state = selected(state, KEYS, torch.arange(HEAD))
    state = selected(state, QUERIES, torch.arange(KEYS))
    for length, kept in ((INNER, inner), (VOCABULARY, tokens), (HIDDEN, units)):
        state = selected(state, length, draw.places(length, kept))
    sizes = {"hidden": units, "inner": inner, "vocabulary": tokens, "heads": 2, "key heads": 1}
    return cast(rebuilt(draw.kind, state, layers=2, **sizes), draw.pick(["float32", "bfloat16", "float16"]))


def joined(base: Any, draw: Draw) -> Any:
    """A Llama saved as a Phi-3, which joins queries, keys and values, and the gate with the input."""
    old = state_of(base)
    joins = {
        "q_proj": ("qkv_proj", "q_proj", "k_proj", "v_proj"),
        "gate_proj": ("gate_up_proj", "gate_proj", "up_proj"),
    }
    state = {}
    for name, value in old.items():
        part = name.split(".")[-2]
        if part in joins:
            new, *parts = joins[part]
            state[name.replace(part, new)] = torch.cat([old[name.replace(part, one)] for one in parts])
        elif part not in ("k_proj", "v_proj", "up_proj"):
            state[name] = value
    same = {
        name: getattr(base.config, name) for name in ("rms_norm_eps", "tie_word_embeddings", "rope_theta")
    }
    return same_function(rebuilt("phi3", state, head_dim=HEAD, **same), base, draw)


def same_function(model: Any, base: Any, draw: Draw) -> Any:
    """The model, after a test that it predicts what the base predicts. Buffers of a cast base are rounded."""
    rows = torch.arange(48).reshape(2, 24)
    with torch.no_grad():
        one, other = (
            some.eval()(input_ids=rows).logits for some in (model, rebuilt(draw.kind, state_of(base)))
        )
    assert torch.allclose(one, other, atol=1e-3), float((one - other).abs().max())
    return model
