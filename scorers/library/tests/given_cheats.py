"""Submissions that only seem to be made from a base model, or from its values only."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from given_approximations import layers_averaged, low_rank, truncated
from given_bases import (
    LAYERS,
    VOCABULARY,
    base_of,
    copied,
    fresh,
    matrices,
    rebuilt,
    state_of,
    tune,
    with_layers,
)
from given_honest import lora, on_a_grid
from given_orders import fewer_units_and_tokens, moved_neurons
from given_removals import Draw, pruned, remove_masks, sized, sparse
from torch import Tensor
from torch.nn.functional import normalize

OUTPUTS = ("o_proj", "down_proj")
LLAMA_LIKE = ("llama", "mistral", "granite", "arcee", "qwen2", "qwen3", "smollm3", "seed_oss", "ministral")
NOTHING = 1e-6  # what the outputs of idle layers are scaled by


@dataclass(frozen=True)
class Cheat:
    name: str
    skill: str  # simple, skilled or expert
    make: Callable[[Any, Draw], Any]
    fits: Callable[[str], bool] = lambda kind: True
    shards: bool = False
    decoys: bool = False  # the base's tensors are stored too, under names that the model does not load
    known_evasion: bool = False  # docs/rules.md says that the rule misses it


def another(base: Any, draw: Draw) -> Any:
    return base_of(draw.kind, draw.seed + 1)


def another_kind(base: Any, draw: Draw) -> Any:
    return base_of("llama" if draw.kind != "llama" else "gpt2", draw.seed + 1)


def mixed_in(base: Any, draw: Draw, share: float) -> Any:
    first, second = state_of(base), state_of(another(base, draw))
    return rebuilt(
        draw.kind,
        {
            name: share * value + (1 - share) * second[name] if value.is_floating_point() else value
            for name, value in first.items()
        },
    )


def half_mixed_in(base: Any, draw: Draw) -> Any:
    return mixed_in(base, draw, 0.5)


def fifth_mixed_in(base: Any, draw: Draw) -> Any:
    return mixed_in(base, draw, 0.2)


def one_layer(base: Any, draw: Draw) -> Any:
    """Another model with one layer of the base's."""
    state = state_of(another(base, draw))
    layer = draw.pick(range(LAYERS))
    return rebuilt(
        draw.kind,
        state | {name: value for name, value in state_of(base).items() if f".{layer}." in name},
    )


def distilled(base: Any, draw: Draw) -> Any:
    """From random weights, trained to predict what the base predicts."""
    model = fresh(draw.kind, draw.seed + 2)
    step = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(40):
        rows = torch.randint(VOCABULARY, (4, 48), generator=draw.generator)
        with torch.no_grad():
            wanted = base(input_ids=rows).logits.log_softmax(-1)
        found = model(input_ids=rows).logits.log_softmax(-1)
        loss = torch.nn.functional.kl_div(found, wanted, log_target=True, reduction="batchmean") / 48
        step.zero_grad()
        loss.backward()
        step.step()
    return model.eval()


def idle_layers(base: Any, draw: Draw) -> Any:
    """Another model, followed by layers of the base whose outputs are scaled to nothing."""
    state = state_of(another(base, draw))
    for name, value in with_layers(state_of(base), [0, 1, 2] * 3).items():
        if name not in state:
            idle = any(part in name for part in OUTPUTS)
            state[name] = value * NOTHING if idle else value
    return rebuilt(draw.kind, state, layers=3 * LAYERS)


def trained(base: Any, draw: Draw) -> Any:
    return tune(copied(base), draw.seed, steps=20, rate=draw.pick([1e-4, 1e-3]))


def trained_then_rounded(base: Any, draw: Draw) -> Any:
    return trained(base, draw).to(getattr(torch, draw.pick(["bfloat16", "float16"])))


def pruned_and_trained(base: Any, draw: Draw) -> Any:
    return remove_masks(
        tune(sparse(copied(base), draw, "each"), draw.seed, steps=20, rate=draw.pick([1e-4, 1e-3]))
    )


def vectors_trained(base: Any, draw: Draw) -> Any:
    model = copied(base)
    vectors = {name for name, value in model.named_parameters() if value.ndim < 2}
    return tune(model, draw.seed, steps=20, rate=1e-3, only=lambda name: name in vectors)


def last_layer_trained(base: Any, draw: Draw) -> Any:
    return tune(copied(base), draw.seed, steps=20, rate=1e-3, only=lambda name: f".{LAYERS - 1}." in name)


def pruned_and_rescaled(base: Any, draw: Draw) -> Any:
    """Each row as long as it was before values were removed."""
    model, less = copied(base), pruned(base, draw)
    with torch.no_grad():
        for (_, whole), (_, part) in zip(matrices(model), matrices(less), strict=True):
            lengths = part.weight.norm(dim=1, keepdim=True).clamp_min(1e-9)
            whole.weight.copy_(part.weight * whole.weight.norm(dim=1, keepdim=True) / lengths)
    return model


def within_rounding(base: Any, draw: Draw) -> Any:
    """Each value rounded to BF16 or F16 in the direction that training wants, not to the nearest number."""
    half = getattr(torch, draw.pick(["bfloat16", "float16"]))
    wanted = tune(copied(base), draw.seed, steps=20, rate=1e-3)
    model = copied(base)
    with torch.no_grad():
        for value, towards in zip(model.parameters(), wanted.parameters(), strict=True):
            value.copy_(rounded_towards(value, towards, half))
    return model.to(half)


def rounded_towards(value: Tensor, towards: Tensor, half: torch.dtype) -> Tensor:
    """The neighbour in `half` on the side of `towards`, if it is within the largest rounding error."""
    nearest = value.to(half)
    bits = nearest.view(torch.int16)
    up = (towards > value) == (value > 0)  # away from zero
    other = torch.where(up, bits + 1, bits - 1).view(half).float()
    most = torch.finfo(half).eps / 2 * value.abs()
    fits = ((other - value).abs() <= most) & ((other - value).sign() == (towards - value).sign())
    return torch.where(fits & torch.isfinite(other), other, nearest.float())


def smaller(base: Any, draw: Draw) -> Any:
    """Another model with fewer hidden units and tokens, so that nothing has rows in common with the base."""
    return fewer_units_and_tokens(another(base, draw), draw)


def near_rows_mixed_in(base: Any, draw: Draw) -> Any:
    """Each row of another model, with the row of the base added that is nearest to it."""
    first, second = state_of(base), state_of(another(base, draw))
    for name, value in second.items():
        if value.ndim == 2 and value.is_floating_point():
            near = (normalize(value, dim=1) @ normalize(first[name], dim=1).T).argmax(1)
            second[name] = (value + first[name][near]) / 2
    return rebuilt(draw.kind, second)


def moved_and_trained(base: Any, draw: Draw) -> Any:
    """Trained, and then all neurons in another order."""
    return moved_neurons(trained(base, draw), draw)


def cut_and_trained(base: Any, draw: Draw) -> Any:
    """Hidden units and tokens removed, and then trained."""
    model = fewer_units_and_tokens(base, draw)
    return tune(model, draw.seed, steps=20, rate=draw.pick([1e-4, 1e-3]))


def sorted_in_rows(base: Any, draw: Draw) -> Any:
    """The base's values only, but in each row in the order of another model's values."""
    first, second = state_of(base), state_of(another(base, draw))
    for name, value in first.items():
        if value.ndim == 2 and value.is_floating_point():
            second[name] = value.sort(1).values.gather(1, second[name].argsort(1).argsort(1))
    return rebuilt(draw.kind, second | {name: value for name, value in first.items() if value.ndim < 2})


def rows_chosen(base: Any, draw: Draw) -> Any:
    """Rows of the base only, each chosen, as often as it is the nearest, to imitate another model."""
    first, second = state_of(base), state_of(another(base, draw))
    for name, value in first.items():
        if value.ndim == 2 and value.is_floating_point():
            near = (normalize(second[name], dim=1) @ normalize(value, dim=1).T).argmax(1)
            first[name] = value[near]
    return rebuilt(draw.kind, first)


def few_values_trained(base: Any, draw: Draw) -> Any:
    """Neurons in another order, and one value of a row trained."""
    model = moved_neurons(base, draw)
    with torch.no_grad():
        for _, module in matrices(model)[-2:]:
            module.weight[-1, -1] *= 1.01
    return model


def values_chosen(base: Any, draw: Draw) -> Any:
    """In some matrices one value a row is left, of any row of the base: a matrix of nearly free values."""
    states = state_of(base)
    names = [name for name, value in states.items() if value.ndim == 2 and value.is_floating_point()]
    for name in names[1::3]:
        value = states[name]
        column = torch.arange(len(value)) % value.shape[1]
        row = torch.randint(0, len(value), (len(value),), generator=draw.generator)
        chosen = torch.zeros_like(value)
        chosen[torch.arange(len(value)), column] = value[row, column]
        states[name] = chosen
    return rebuilt(draw.kind, states)


def another_of_low_rank(base: Any, draw: Draw) -> Any:
    return low_rank(another(base, draw), draw)


def trained_then_low_rank(base: Any, draw: Draw) -> Any:
    return low_rank(trained(base, draw), draw)


def average_trained(base: Any, draw: Draw) -> Any:
    """One layer the mean of two, and then training."""
    model = layers_averaged(base, draw).float()
    return tune(model, draw.seed, steps=20, rate=draw.pick([1e-4, 1e-3]))


def directions_chosen(base: Any, draw: Draw) -> Any:
    """Each matrix of the base on the largest directions of another model's matrix."""
    model, other, share = copied(base), another(base, draw), draw.pick([0.25, 0.5])
    with torch.no_grad():
        for (_, mine), (_, theirs) in zip(matrices(model), matrices(other), strict=True):
            left, sizes, _ = torch.linalg.svd(theirs.weight, full_matrices=False)
            kept = left[:, : max(1, int(share * len(sizes)))]
            mine.weight.copy_(kept @ (kept.T @ mine.weight))
    return model


def weak_directions_trained(base: Any, draw: Draw) -> Any:
    """The largest directions of each matrix are the base's, and the others those of a trained one."""
    model, other, share = copied(base), trained(base, draw), draw.pick([0.5, 0.9])
    with torch.no_grad():
        for (_, mine), (_, theirs) in zip(matrices(model), matrices(other), strict=True):
            most = truncated(mine.weight, share)
            left = torch.linalg.svd(most, full_matrices=False)[0][:, : max(1, int(share * min(most.shape)))]
            rest = theirs.weight - left @ (left.T @ theirs.weight)
            mine.weight.copy_(most + rest)
    return model


BASE_CHEATS = (
    Cheat("another model, of lower rank", "simple", another_of_low_rank),
    Cheat("another model, smaller in hidden units and tokens", "skilled", smaller, sized("head", "inner")),
    Cheat("another model, the base's nearest rows mixed in", "expert", near_rows_mixed_in),
    Cheat("another model", "simple", another),
    Cheat("another architecture", "simple", another_kind),
    Cheat("another model, and the base as decoys", "skilled", another, decoys=True),
    Cheat("another model with one of the base's layers", "skilled", one_layer),
    Cheat("another model, a fifth of the base mixed in", "skilled", fifth_mixed_in),
    Cheat("another model, distilled from the base", "expert", distilled),
    Cheat("half of another model", "expert", half_mixed_in),
    Cheat(
        "another model, and idle layers of the base",
        "expert",
        idle_layers,
        lambda kind: kind in LLAMA_LIKE,
        known_evasion=True,
    ),
)
COMPRESSED_CHEATS = (
    Cheat("another model, of lower rank", "simple", another_of_low_rank),
    Cheat("trained, then of lower rank", "skilled", trained_then_low_rank),
    Cheat("LoRA, merged", "skilled", lora, lambda kind: kind != "mamba"),  # peft refuses it
    Cheat("one layer the mean of two, then trained", "skilled", average_trained),
    Cheat("directions chosen to imitate another model", "expert", directions_chosen),
    Cheat("only small directions trained", "expert", weak_directions_trained),
    Cheat("trained, and neurons in another order", "skilled", moved_and_trained),
    Cheat(
        "hidden units and tokens removed, then trained", "skilled", cut_and_trained, sized("head", "inner")
    ),
    Cheat("another model, smaller in hidden units and tokens", "skilled", smaller, sized("head", "inner")),
    Cheat("the base's values in an order of each row", "expert", sorted_in_rows),
    Cheat("the base's rows, chosen to imitate another model", "expert", rows_chosen),
    Cheat("one value of any of the base's rows in each row", "expert", values_chosen),
    Cheat("neurons in another order, and two values trained", "expert", few_values_trained),
    Cheat("trained", "simple", trained),
    Cheat("another model", "simple", another),
    Cheat("trained, then rounded", "simple", trained_then_rounded),
    Cheat("pruned, then trained", "skilled", pruned_and_trained),
    Cheat("trained, and the base as decoys", "skilled", trained, decoys=True),
    Cheat("rounded to 8 or 4 bits", "skilled", on_a_grid),
    Cheat("only vectors trained", "expert", vectors_trained, lambda kind: kind != "olmo"),
    Cheat("only the last layer trained", "expert", last_layer_trained),
    Cheat("pruned, and the rest rescaled to make up for it", "skilled", pruned_and_rescaled),
    Cheat("trained within rounding", "expert", within_rounding),
)
