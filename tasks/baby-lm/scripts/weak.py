"""What one would hand in after a quick read: the common recipe, unchanged.

Two layers, rows in batches of 8, AdamW at a small constant rate. Nothing in it is broken; it takes
few and careful steps, which is right for long training and wrong for a budget this short.
"""

from library.careful import careful_optimizers, constant
from library.pretrain import Method
from train import run

if __name__ == "__main__":
    method = Method(
        name="script-weak",
        hypothesis="the common recipe learns something in this budget",
        change="none: two layers, batch 8, AdamW, constant rate 1e-3",
        optimizers=careful_optimizers,
        rate_factor=constant,
    )
    run(method, batch=8, layers=2)
