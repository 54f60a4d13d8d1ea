"""What a researcher would hand in: the budget's tokens spent on many bold steps of a small model.

One layer, rows in batches of 4, Muon on the matrices, high rates for the rest, warm-up and decay.
"""

from library.bold import bold_optimizers, warm_up_and_decay
from library.pretrain import Method
from train import run

if __name__ == "__main__":
    method = Method(
        name="script-strong",
        hypothesis="in a short budget, more and larger steps of a smaller model learn more than depth",
        change="one layer, batch 4, Muon on matrices, Adam at high rates, warm-up and decay",
        optimizers=bold_optimizers,
        rate_factor=warm_up_and_decay,
    )
    run(method, batch=4, layers=1)
