"""What one would hand in after a quick read: a narrow model with a common vocabulary, trained with care.

8 000 tokens, width 32, input and output embeddings apart, AdamW at a constant rate. It keeps within the
memory; but most of that goes to the logits, and each of two tables of embeddings learns from one end only.
"""

from functools import partial

from library.careful import careful_optimizers, constant
from library.pretrain import Method
from train import run

if __name__ == "__main__":
    method = Method(
        name="script-weak",
        hypothesis="a narrow model with a common vocabulary fits the device and learns something",
        change="none: 8 000 tokens, width 32, untied, batch 8, AdamW, constant rate 3e-3",
        optimizers=partial(careful_optimizers, rate=3e-3),
        rate_factor=constant,
    )
    run(method, vocabulary=8000, width=32, rows=8, tied=False)
