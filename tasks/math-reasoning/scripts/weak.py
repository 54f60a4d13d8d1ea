"""What one would hand in after a quick read: a language model of whole rows.

Every token of a row is learned, the English ones as well, as language models are trained.
"""

from library.bold import bold_optimizers, warm_up_and_decay
from library.pretrain import Method
from train import run

if __name__ == "__main__":
    method = Method(
        name="script-weak",
        hypothesis="a language model of whole rows learns to write their formal side",
        change="none: loss on every token, Muon on matrices, Adam at high rates, warm-up and decay",
        optimizers=bold_optimizers,
        rate_factor=warm_up_and_decay,
    )
    run(method, formal_only=False)
