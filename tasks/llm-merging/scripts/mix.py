"""Mixes models: every tensor of the result is a weighted sum of the models' tensors of that name."""

import hashlib
import shutil
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file

WEIGHTS = "model.safetensors"


def mix(models: dict[Path, float], folder: Path) -> None:
    """Writes to `folder` a whole model in F32, with the other files of the first of `models`.

    One file is open at a time, so that memory holds the result and no more than one model beside it.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    first = next(iter(models))
    for path in first.iterdir():
        if path.name != WEIGHTS:
            shutil.copyfile(path, folder / path.name)
    mixed: dict[str, torch.Tensor] = {}
    for model, weight in models.items():
        with safe_open(model / WEIGHTS, framework="pt") as file:
            names = list(file.keys())
            if mixed and set(names) != mixed.keys():
                raise SystemExit(f"{model} has other tensors than {first}")
            for name in names:
                part = file.get_tensor(name).float()
                mixed[name] = mixed[name].add_(part, alpha=weight) if name in mixed else part * weight
    save_file(mixed, folder / WEIGHTS, metadata={"format": "pt"})


def digest(model: Path) -> str:
    found = hashlib.sha256()
    with (model / WEIGHTS).open("rb") as file:
        while piece := file.read(1 << 20):
            found.update(piece)
    return found.hexdigest()
