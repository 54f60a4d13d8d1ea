"""Large steps: Muon on the matrices, Adam at high rates for the rest, a short warm-up and then decay."""

import torch

from library.muon import Muon

WARM_UP_STEPS = 10


def bold_optimizers(model: torch.nn.Module) -> list[torch.optim.Optimizer]:
    matrices, embeddings, rest = [], [], []
    for name, parameter in model.named_parameters():
        group = rest if parameter.ndim == 1 else embeddings if name.startswith("w") else matrices
        group.append(parameter)
    adam = [{"params": embeddings, "lr": 1e-2}, {"params": rest, "lr": 5e-3}]
    return [Muon(matrices, lr=0.02), torch.optim.Adam(adam, betas=(0.9, 0.95))]


def warm_up_and_decay(step: int, steps: int) -> float:
    """The factor of every rate at `step`."""
    return min(1.0, (step + 1) / WARM_UP_STEPS) * (1 - step / steps)
