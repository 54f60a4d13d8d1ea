"""What a researcher would hand in: the budget's tokens spent on many bold steps of a small model.

One layer, rows in batches of 8, Muon on the matrices, high rates for the rest, warm-up and decay.
"""

import torch

from muon import Muon
from train import Method, run

WARM_UP_STEPS = 10


def optimizers(model: torch.nn.Module) -> list[torch.optim.Optimizer]:
    matrices, embeddings, rest = [], [], []
    for name, parameter in model.named_parameters():
        group = rest if parameter.ndim == 1 else embeddings if name.startswith("w") else matrices
        group.append(parameter)
    adam = [{"params": embeddings, "lr": 1e-2}, {"params": rest, "lr": 5e-3}]
    return [Muon(matrices, lr=0.02), torch.optim.Adam(adam, betas=(0.9, 0.95))]


def rate_factor(step: int, steps: int) -> float:
    return min(1.0, (step + 1) / WARM_UP_STEPS) * (1 - step / steps)


if __name__ == "__main__":
    run(
        Method(
            name="reference",
            hypothesis="in a short budget, more and larger steps of a smaller model learn more than depth",
            change="one layer, batch 8, Muon on matrices, Adam at high rates, warm-up and decay",
            batch=8,
            layers=1,
            optimizers=optimizers,
            rate_factor=rate_factor,
        )
    )
