"""Submissions that hold the base's rows and columns in another order, or lack some in every dimension."""

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
    rebuilt,
    selected,
    state_of,
    with_layers,
)
from given_removals import Draw, cast, layers
from torch import Tensor


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
