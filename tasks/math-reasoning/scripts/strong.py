"""What a researcher would hand in: only what the model is to write is learned, by bold steps.

Loss on the formal side alone, Muon on the matrices, Adam at high rates for the rest, warm-up and decay.
"""

from library.bold import bold_optimizers, warm_up_and_decay
from library.pretrain import Method
from train import run

if __name__ == "__main__":
    method = Method(
        name="script-strong",
        hypothesis="learning to write English costs what the formal side needs, and so do small steps",
        change="loss on the formal side, Muon on matrices, Adam at high rates, warm-up and decay",
        optimizers=bold_optimizers,
        rate_factor=warm_up_and_decay,
    )
    run(method, formal_only=True)
