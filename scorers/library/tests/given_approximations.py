"""Compressions that approximate (lower rank, layers averaged, new tokens), and pairs of compressions."""

from collections.abc import Callable
from typing import Any

import torch
from given_bases import copied, matrices, rebuilt, state_of
from given_removals import (
    Draw,
    cast,
    fewer_heads,
    fewer_layers,
    fewer_neurons,
    fewer_tokens,
    fewer_units,
    layers,
    pruned,
    pruned_by_groups,
    sized,
    without_sublayer,
)
from torch import Tensor

Change = Callable[[Any, Draw], Any]


def layers_averaged(base: Any, draw: Draw) -> Any:
    """One layer is the mean of itself and the next one, which is left out."""
    state = state_of(layers(base, [0, 1, 2], draw))
    following = {name: state.get(name.replace(".1.", ".2.", 1), value) for name, value in state.items()}
    for name, value in state.items():
        if ".1." in name and value.is_floating_point():
            state[name] = ((value.float() + following[name].float()) / 2).to(value.dtype)
    return layers(rebuilt(draw.kind, state), [0, 1], draw)


def one_token_more(base: Any, draw: Draw) -> Any:
    """A token for padding, as tools add it: its row is the mean of all rows."""
    model = copied(base)
    model.resize_token_embeddings(model.get_input_embeddings().weight.shape[0] + 1)
    return model


def low_rank(base: Any, draw: Draw) -> Any:
    """Every matrix, or some of them, on its largest directions; also in half precision."""
    model, share = copied(base), draw.pick([0.25, 0.5, 0.75, 0.9])
    every = draw.pick([1, 1, 2])
    with torch.no_grad():
        for _, module in matrices(model)[::every]:
            module.weight.copy_(truncated(module.weight, share))
    return cast(model, draw.pick(["float32", "bfloat16", "float16"]))


def truncated(value: Tensor, share: float) -> Tensor:
    left, sizes, right = torch.linalg.svd(value.float(), full_matrices=False)
    kept = max(1, int(share * len(sizes)))
    return (left[:, :kept] * sizes[:kept]) @ right[:kept]


def removed(base: Any, draw: Draw) -> Any:
    """Layers, tokens, neurons, heads or hidden units."""
    ways: list[Change] = [fewer_layers, fewer_tokens]
    ways += [fewer_neurons] if sized("inner")(draw.kind) else []
    ways += [fewer_heads] if sized("head", "key heads")(draw.kind) else []
    ways += [fewer_units] if sized("head", "inner")(draw.kind) else []
    way = ways[int(torch.randint(len(ways), (1,), generator=draw.generator))]
    draw.notes.append(way.__name__)
    return way(base, draw)


def one_after_the_other(first: Change, second: Change) -> Change:
    def both(base: Any, draw: Draw) -> Any:
        return second(first(base, draw).float(), draw)

    return both


def in_any_order(first: Change, second: Change, draw: Draw) -> Change:
    return one_after_the_other(*((first, second) if draw.pick([True, False]) else (second, first)))


def removed_and_pruned(base: Any, draw: Draw) -> Any:
    how = draw.pick([0, 1, 2])
    if how == 2:  # `without_sublayer` chooses among the base's layers
        return one_after_the_other(without_sublayer, removed)(base, draw)
    return in_any_order(removed, [pruned, pruned_by_groups][how], draw)(base, draw)


def removed_and_low_rank(base: Any, draw: Draw) -> Any:
    return in_any_order(removed, low_rank, draw)(base, draw)


def pruned_and_low_rank(base: Any, draw: Draw) -> Any:
    first = draw.pick([0, 1])
    return one_after_the_other([pruned, pruned_by_groups][first], low_rank)(base, draw)


def averaged_and_changed(base: Any, draw: Draw) -> Any:
    how = draw.pick(["pruned", "lower rank"])
    return one_after_the_other(layers_averaged, pruned if how == "pruned" else low_rank)(base, draw)
