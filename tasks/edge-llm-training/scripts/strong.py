"""What a researcher would hand in: half the vocabulary, twice the width, one table of embeddings, bold steps.

The logits of 2 000 tokens are what fills the memory: fewer of them leave room for width. Tied embeddings
learn from both ends. Small batches, Muon on the matrices, high rates for the rest, warm-up and decay.
"""

from library.bold import bold_optimizers, warm_up_and_decay
from library.pretrain import Method
from train import run

if __name__ == "__main__":
    method = Method(
        name="script-strong",
        hypothesis="logits decide the memory, so fewer tokens and more width learn more in less of it",
        change="4 000 tokens, width 64, tied, batch 4, Muon, Adam at high rates, warm-up and decay",
        optimizers=bold_optimizers,
        rate_factor=warm_up_and_decay,
    )
    run(method, vocabulary=4000, width=64, rows=4, tied=True)
