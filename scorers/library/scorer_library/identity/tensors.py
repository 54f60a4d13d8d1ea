"""Reads the tensors that identity is judged by: those of the loaded submission, and those of given models."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from math import prod
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import Tensor

from mlrb_kit.stored import weight_files
from scorer_library.identity.work import Work

# the largest relative rounding error of a type, and the smallest difference of numbers in half precision:
# values that have only the precision of bfloat16 may have passed through it
STEPS = {torch.bfloat16: (2.0**-8, 2.0**-24), torch.float16: (2.0**-11, 2.0**-24)}
LAYER = re.compile(r"\.(\d+)\.")
SINGLE = (2.0**-24, 0.0)  # models are computed in single precision, so a wider type shows no more


def own_tensors(model: Any) -> dict[str, Tensor]:
    """The parameters of a loaded model. Tied weights count once; tensors that it did not load, never."""
    return {name: parameter.detach() for name, parameter in model.named_parameters()}


class GivenModel:
    """The tensors of a model in a folder of ours, read one at a time. Use as a context."""

    def __init__(self, name: str, folder: Path, work: Work | None = None) -> None:
        self.name = name
        self._work = work or Work()
        self._stack = ExitStack()
        self._files: dict[str, Any] = {}
        for path in weight_files(folder):
            file = self._stack.enter_context(safe_open(path, framework="pt"))
            self._files |= dict.fromkeys(file.keys(), file)

    def __enter__(self) -> "GivenModel":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def names(self) -> list[str]:
        return sorted(self._files)

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(self._files[name].get_slice(name).get_shape())

    def size(self) -> int:
        """Values in all tensors."""
        return sum(prod(self.shape(name)) for name in self.names())

    def read(self, name: str) -> Tensor:
        """In single precision."""
        self._work.values(prod(self.shape(name)))
        return self._files[name].get_tensor(name).float()

    def of_pattern(self, name: str) -> Iterator[str]:
        """Tensors of this name in any layer."""
        wanted = pattern(name)
        return (other for other in self.names() if pattern(other) == wanted)


def layer_of(name: str) -> str | None:
    found = LAYER.search(name)
    return found and found[1]


def pattern(name: str) -> str:
    return re.sub(r"\d+", "*", name)


def rounding(values: Tensor) -> tuple[float, float]:
    """The largest relative and absolute error of the narrowest type that holds these values."""
    for dtype, step in STEPS.items():
        if torch.equal(values.to(dtype).float(), values.float()):
            return step
    return SINGLE


def embedding_name(model: Any) -> str | None:
    """The name of the input embedding among `own_tensors`; None where a model has several tables."""
    weight = getattr(model.get_input_embeddings(), "weight", None)
    return next((name for name, parameter in model.named_parameters() if parameter is weight), None)


def described(name: str, values: Tensor) -> dict[str, Any]:
    """An entry of identity.json, without relations. `finite`: at least half of the values are numbers."""
    finite = int(torch.isfinite(values).sum())
    constant = values.numel() > 0 and bool((values == values.flatten()[0]).all())
    return {
        "name": name,
        "shape": list(values.shape),
        "finite": finite * 2 >= values.numel() > 0,
        "constant": constant,
        "relations": [],
    }
