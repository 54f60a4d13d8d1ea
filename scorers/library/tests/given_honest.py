"""Honest submissions made from a base model: trained further, or compressed, as real tools do it.

A review found the recipes MOVED…, which the method failed: they change the order, or cut several dimensions.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from given_approximations import (
    averaged_and_changed,
    layers_averaged,
    low_rank,
    one_token_more,
    pruned_and_low_rank,
    removed_and_low_rank,
    removed_and_pruned,
)
from given_bases import HIDDEN, LAYERS, POSITIONS, VOCABULARY, copied, matrices, rebuilt, state_of, tune
from given_orders import (
    fewer_of_everything,
    fewer_units_and_tokens,
    joined,
    moved_experts,
    moved_heads,
    moved_layers,
    moved_neurons,
    moved_units,
    neurons_moved_up,
)
from given_removals import (
    Draw,
    can_be_tied,
    cast,
    fewer_heads,
    fewer_layers,
    fewer_neurons,
    fewer_of_all,
    fewer_tokens,
    fewer_units,
    is_tied,
    layers,
    pruned,
    pruned_by_groups,
    remove_masks,
    sized,
    sparse,
    tied,
    untied,
    without_sublayer,
)
from torch import Tensor

DTYPES = ("float32", "bfloat16", "float16")


@dataclass(frozen=True)
class Honest:
    name: str
    make: Callable[[Any, Draw], Any]
    fits: Callable[[str], bool] = lambda kind: True  # by architecture
    shards: bool = False  # saved in several files
    decoys: bool = False


def further(model: Any, draw: Draw, only: Callable[[str], bool] = lambda name: True) -> Any:
    """Trained at a rate of up to a third of the base's."""
    rate, steps = draw.pick([3e-5, 1e-4, 3e-4, 1e-3]), draw.pick([10, 30, 90])
    return tune(model, draw.seed, steps=steps, rate=rate, only=only)


def then_trained(change: Callable[[Any, Draw], Any]) -> Callable[[Any, Draw], Any]:
    return lambda base, draw: further(change(base, draw), draw)


def fine_tuned(base: Any, draw: Draw) -> Any:
    return further(copied(base), draw)


def by_other_optimisers(base: Any, draw: Draw) -> Any:
    optimiser = draw.pick(["SGD", "RMSprop", "Adafactor", "Adagrad"])
    rate = draw.pick([1e-4, 1e-3]) * (10 if optimiser == "SGD" else 1)
    return tune(copied(base), draw.seed, steps=draw.pick([20, 60]), rate=rate, optimiser=optimiser)


def lora(base: Any, draw: Draw, **more: Any) -> Any:
    from peft import LoraConfig, get_peft_model

    settings = LoraConfig(
        r=draw.pick([2, 8, 16]),
        lora_alpha=draw.pick([16, 32]),
        target_modules="all-linear",
        task_type="CAUSAL_LM",
        **more,
    )
    torch.manual_seed(draw.seed)
    wrapped = get_peft_model(copied(base), settings)
    rate, steps = draw.pick([2e-4, 1e-3, 3e-3]), draw.pick([20, 60])
    tune(wrapped, draw.seed, steps=steps, rate=rate, only=lambda name: "lora_" in name)
    return wrapped.merge_and_unload()


def other_lora(base: Any, draw: Draw) -> Any:
    return lora(base, draw, **draw.pick([{"use_dora": True}, {"use_rslora": True}]))


def in_part(base: Any, draw: Draw) -> Any:
    """Embeddings or the first layers frozen."""
    frozen = draw.pick(["embed|wte|wpe|emb_in", ".0.|.1."])
    return further(copied(base), draw, lambda name: not any(part in name for part in frozen.split("|")))


def in_small_part(base: Any, draw: Draw) -> Any:
    """Only vectors (BitFit), or only the last layer."""
    model = copied(base)
    vectors = {name for name, value in model.named_parameters() if value.ndim < 2}
    if draw.pick(["vectors", "last layer"]) == "vectors" and vectors:
        return further(model, draw, lambda name: name in vectors)
    return further(model, draw, lambda name: f".{LAYERS - 1}." in name)


def then_rounded(base: Any, draw: Draw) -> Any:
    return fine_tuned(base, draw).to(getattr(torch, draw.pick(["bfloat16", "float16"])))


def in_bfloat16(base: Any, draw: Draw) -> Any:
    return further(copied(base).bfloat16(), draw)


def with_new_tokens(base: Any, draw: Draw) -> Any:
    model = copied(base)
    torch.manual_seed(draw.seed)
    model.resize_token_embeddings(VOCABULARY + draw.pick([1, 16, 128]))
    return further(model, draw)


def more_layers_trained(base: Any, draw: Draw) -> Any:
    """Copies of layers in the middle, as SOLAR does."""
    return further(layers(base, draw.pick([[0, 1, 1, 2], [0, 1, 0, 1, 2], [0, 1, 2, 2]]), draw), draw)


def fewer_of_everything_trained(base: Any, draw: Draw) -> Any:
    return further(fewer_of_everything(base, draw).float(), draw)


def pruned_trained(base: Any, draw: Draw) -> Any:
    return remove_masks(further(sparse(copied(base), draw, draw.pick(["each", "global"])), draw))


def pruned_by_groups_trained(base: Any, draw: Draw) -> Any:
    return remove_masks(further(sparse(copied(base), draw, draw.pick(["rows", "2:4", "in rows"])), draw))


def on_a_grid(base: Any, draw: Draw) -> Any:
    """Rounded to 8 or 4 bits for each row, and stored as floats again."""
    model, largest_step = copied(base), draw.pick([127, 7])
    with torch.no_grad():
        for _, module in matrices(model):
            step = module.weight.abs().amax(1, keepdim=True).clamp_min(1e-12) / largest_step
            module.weight.copy_((module.weight / step).round() * step)
    return model.half() if draw.pick([True, False]) else model


def averaged(base: Any, draw: Draw) -> Any:
    """Of two trainings, or of the base and a training."""
    with_base = draw.pick([True, False])
    first, second = (
        state_of(model) for model in (fine_tuned(base, draw), base if with_base else fine_tuned(base, draw))
    )
    return rebuilt(
        draw.kind,
        {
            name: (value + second[name]) / 2 if value.is_floating_point() else value
            for name, value in first.items()
        },
    )


def more_positions(base: Any, draw: Draw) -> Any:
    """A context twice as long, with the table of positions interpolated, and trained."""
    state = state_of(base)
    size = POSITIONS * 2

    def stretch(value: Tensor) -> Tensor:
        extra = value.shape[0] - POSITIONS
        longer = torch.nn.functional.interpolate(value[extra:].T[None], size=size, mode="linear")[0].T
        return torch.cat([value[:extra], longer])

    state = {
        name: stretch(value)
        if value.ndim == 2 and value.shape[1] == HIDDEN and 0 <= value.shape[0] - POSITIONS <= 2
        else value
        for name, value in state.items()
        if not (value.ndim == 4 and POSITIONS in value.shape)
    }
    return further(rebuilt(draw.kind, state, positions=size), draw)


def unchanged(base: Any, draw: Draw) -> Any:
    return cast(copied(base), draw.pick(DTYPES))


def rounded_twice(base: Any, draw: Draw) -> Any:
    first, second = draw.pick([("bfloat16", "float16"), ("float16", "bfloat16"), ("bfloat16", "float32")])
    return cast(cast(copied(base), first), second)


def pruned_and_cast(base: Any, draw: Draw) -> Any:
    return cast(pruned(base, draw), draw.pick(["bfloat16", "float16"]))


def pruned_by_groups_and_cast(base: Any, draw: Draw) -> Any:
    return cast(pruned_by_groups(base, draw), draw.pick(DTYPES))


def mixed_types(base: Any, draw: Draw) -> Any:
    """Vectors in single, matrices in half precision."""
    model, half = copied(base), getattr(torch, draw.pick(["bfloat16", "float16"]))
    for value in model.parameters():
        if value.ndim >= 2:
            value.data = value.data.to(half)
    return model


LARGE = sized("head", "key heads", "inner")
JOINED = ("llama", "mistral")
MOVED_TRAINED = (
    Honest("neurons in another order, trained", then_trained(moved_neurons)),
    Honest("heads in another order, trained", then_trained(moved_heads), sized("head", "key heads")),
    Honest("neurons moved up, the rest zero, trained", then_trained(neurons_moved_up), sized("inner")),
    Honest("hidden units in another order, trained", then_trained(moved_units), LARGE),
    Honest(
        "hidden units and tokens removed, trained",
        then_trained(fewer_units_and_tokens),
        sized("head", "inner"),
    ),
    Honest("removed in every dimension, trained", fewer_of_everything_trained, LARGE),
    Honest("saved as another architecture, trained", then_trained(joined), lambda kind: kind in JOINED),
)
MOVED = (
    Honest("neurons in another order", moved_neurons),
    Honest("neurons moved up, the rest zero", neurons_moved_up, sized("inner")),
    Honest("heads in another order", moved_heads, sized("head", "key heads")),
    Honest("hidden units, neurons or tokens in another order", moved_units, LARGE),
    Honest("layers in another order", moved_layers, lambda kind: kind != "rwkv"),
    Honest("experts removed or in another order", moved_experts, lambda kind: kind == "mixtral"),
    Honest("hidden units and tokens removed", fewer_units_and_tokens, sized("head", "inner")),
    Honest("removed in every dimension", fewer_of_everything, LARGE),
    Honest("saved as another architecture", joined, lambda kind: kind in JOINED),
)
TRAINED = (
    Honest("fine-tuned by AdamW", fine_tuned),
    Honest("LoRA, merged", lora, lambda kind: kind != "mamba"),  # peft refuses it
    Honest("embeddings or first layers frozen", in_part),
    Honest("fine-tuned, then rounded", then_rounded),
    Honest("new tokens, trained", with_new_tokens),
    Honest("layers removed, trained", then_trained(fewer_layers)),
    Honest("pruned value by value, trained", pruned_trained),
    Honest("neurons removed, trained", then_trained(fewer_neurons), sized("inner")),
    Honest("two trainings averaged", averaged),
    Honest("rounded to 8 or 4 bits", on_a_grid),
    Honest("fine-tuned by SGD, RMSprop, Adafactor or Adagrad", by_other_optimisers),
    Honest("DoRA or rank-stabilised LoRA, merged", other_lora),
    Honest("only vectors or the last layer", in_small_part),
    Honest("trained in BF16, saved in shards", in_bfloat16, shards=True),
    Honest("tokens removed, trained", then_trained(fewer_tokens)),
    Honest("layers repeated, trained", more_layers_trained),
    Honest("pruned in groups, trained", pruned_by_groups_trained),
    Honest("heads removed, trained", then_trained(fewer_heads), sized("head", "key heads")),
    Honest("hidden units removed, trained", then_trained(fewer_units), sized("head", "inner")),
    Honest("head untied, trained", then_trained(untied), is_tied),
    Honest("lower rank, trained", then_trained(low_rank)),
    Honest("longer context, trained", more_positions),
)
COMPRESSED = (
    Honest("unchanged or rounded", unchanged),
    Honest("one layer the mean of two", layers_averaged),
    Honest("one token more", one_token_more),
    Honest("lower rank", low_rank),
    Honest("head tied", tied, can_be_tied),
    Honest("removed in a dimension, and pruned", removed_and_pruned),
    Honest("removed in a dimension, and of lower rank", removed_and_low_rank),
    Honest("pruned, and of lower rank", pruned_and_low_rank),
    Honest("one layer the mean of two, and pruned or of lower rank", averaged_and_changed),
    Honest("pruned value by value", pruned),
    Honest("layers removed", fewer_layers),
    Honest("neurons removed", fewer_neurons, sized("inner")),
    Honest("pruned value by value, rounded", pruned_and_cast),
    Honest("head untied", untied, is_tied),
    Honest("part of a layer zero", without_sublayer),
    Honest("rounded twice", rounded_twice),
    Honest("pruned in groups, rounded", pruned_by_groups_and_cast),
    Honest("pruned in groups, in shards", pruned_by_groups, shards=True),
    Honest("heads removed", fewer_heads, sized("head", "key heads")),
    Honest("hidden units removed", fewer_units, sized("head", "inner")),
    Honest("tokens removed", fewer_tokens),
    Honest("layers, neurons and values removed, rounded", fewer_of_all, sized("inner")),
    Honest("vectors in F32, matrices in half precision", mixed_types),
)
