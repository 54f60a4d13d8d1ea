"""Weights that a model has under several names, e.g. an input embedding that is the output layer too.

Files hold such a weight under one name or under several. transformers takes the weight of the input embedding
only: where the file names the weight otherwise, it is lost, and where the file holds another one for the
output layer, that one is replaced without a word.
"""

from typing import Any

from mlrb_kit.admitted import Undecided
from mlrb_kit.stored import Stored


def stored_groups(model: Any, stored: Stored) -> list[tuple[list[str], list[str]]]:
    """The names of each weight that has several, with those in the file. `model` may be a sketch."""
    groups: dict[int, list[str]] = {}
    for name, values in model.named_parameters(remove_duplicate=False):
        groups.setdefault(id(values), []).append(name)
    # as transformers renames what it reads
    prefix = model.base_model_prefix
    whole = bool(prefix) and any(name.startswith(prefix) for name in stored.files)
    base = bool(prefix) and hasattr(model, prefix)
    names = model._get_key_renaming_mapping(
        list(stored.files), model._checkpoint_conversion_mapping, whole and not base, base and not whole
    )
    files = {ours: name for name, ours in names.items()}
    return [
        (group, [files[name] for name in group if name in files])
        for group in groups.values()
        if len(group) > 1
    ]


def check_tied(model: Any, stored: Stored) -> None:
    """Raises Undecided if the file holds different weights where the model has one."""
    head = model.get_output_embeddings()
    for group, found in stored_groups(model, stored):
        for name in found[1:]:
            if not same(stored.read(found[0]), stored.read(name)):
                separable = head is not None and model.get_parameter(group[0]) is head.weight
                cure = (
                    'set "tie_word_embeddings": false in config.json' if separable else "use save_pretrained"
                )
                raise Undecided(
                    f"the weights {found[0]} and {name} differ, but by config.json they are one (tied), so "
                    f"loaders would drop one of them; if they are meant to differ, {cure}"
                )


def same(one: Any, other: Any) -> bool:
    """Whether both are equal in the less precise one of their types. Loaders refuse another shape."""
    import torch

    if one.shape != other.shape:
        return True
    return torch.equal(one.to(other.dtype), other) or torch.equal(other.to(one.dtype), one)


def restore_tied(model: Any, stored: Stored) -> None:
    """Gives the loaded `model` the tied weights that the file holds only under another name."""
    import torch

    for group, found in stored_groups(model, stored):
        lost = model.get_parameter(group[0])
        if lost.is_meta and found:
            values = torch.nn.Parameter(
                stored.read(found[0]).to(lost.dtype), requires_grad=lost.requires_grad
            )
            for name in group:
                module, _, leaf = name.rpartition(".")
                setattr(model.get_submodule(module), leaf, values)
