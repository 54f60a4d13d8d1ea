"""Mixes models: every tensor of the result is a weighted sum of the models' tensors of that name."""

import hashlib
from pathlib import Path

import torch
from safetensors import safe_open

from library.llama import WEIGHTS


def mix(models: dict[Path, float]) -> dict[str, torch.Tensor]:
    """The weights in F32. One file is open at a time: memory holds the result and one tensor beside it."""
    first = next(iter(models))
    mixed: dict[str, torch.Tensor] = {}
    for model, weight in models.items():
        with safe_open(model / WEIGHTS, framework="pt") as file:
            names = list(file.keys())
            if mixed and set(names) != mixed.keys():
                raise SystemExit(f"{model} has other tensors than {first}")
            for name in names:
                part = file.get_tensor(name).float()
                mixed[name] = mixed[name].add_(part, alpha=weight) if name in mixed else part * weight
    return mixed


def digest(model: Path) -> str:
    found = hashlib.sha256()
    with (model / WEIGHTS).open("rb") as file:
        while piece := file.read(1 << 20):
            found.update(piece)
    return found.hexdigest()
