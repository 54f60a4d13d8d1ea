"""What one would hand in after a quick read: the common recipe, unchanged.

Two layers, rows in batches of 32, AdamW at a small constant rate. Nothing in it is broken; it takes
few and careful steps, which is right for long training and wrong for a budget this short.
"""

import torch

from train import Method, run


def optimizers(model: torch.nn.Module) -> list[torch.optim.Optimizer]:
    return [torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.01)]


if __name__ == "__main__":
    run(
        Method(
            name="minimal",
            hypothesis="the common recipe learns something in this budget",
            change="none: two layers, batch 32, AdamW, constant rate 1e-3",
            batch=32,
            layers=2,
            optimizers=optimizers,
            rate_factor=lambda _step, _steps: 1.0,
        )
    )
