"""Muon: momentum, then the nearest orthogonal matrix as the step, so all directions of a weight move alike.

Keller Jordan, "Muon: an optimizer for hidden layers in neural networks", 2024. For matrices inside the
network; embeddings, biases and norms stay with Adam.
"""

import torch
from torch import Tensor


class Muon(torch.optim.Optimizer):
    def __init__(self, parameters: list[Tensor], lr: float, momentum: float = 0.95) -> None:
        super().__init__(parameters, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self) -> None:
        for group in self.param_groups:
            for weight in group["params"]:
                moving = self.state[weight].setdefault("moving", torch.zeros_like(weight))
                moving.lerp_(weight.grad, 1 - group["momentum"])
                direction = orthogonal(weight.grad.lerp(moving, group["momentum"]))
                wide = max(1.0, weight.shape[0] / weight.shape[1]) ** 0.5
                weight.add_(direction, alpha=-group["lr"] * wide)


def orthogonal(matrix: Tensor, steps: int = 5) -> Tensor:
    """Drives all singular values of `matrix` towards 1 by a quintic Newton-Schulz iteration."""
    a, b, c = 3.4445, -4.7750, 2.0315  # the article's: steepest at zero, not exact at one
    x = matrix / (matrix.norm() + 1e-7)
    tall = x.shape[0] > x.shape[1]
    x = x.T if tall else x
    for _ in range(steps):
        square = x @ x.T
        # in one call each: at these sizes calls cost more than products
        x = torch.addmm(x, torch.addmm(square, square, square, beta=b, alpha=c), x, beta=a)
    return x.T if tall else x
