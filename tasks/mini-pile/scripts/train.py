"""What both agents share: the same text, tokenizer, model, rate and budget.

They differ only in how rows are made of the text, which arrives from them. The budget counts positions
that the model computes, empty ones too, for those cost the same.
"""

from collections.abc import Callable
from pathlib import Path

from tokenizers import Tokenizer

from library.batches import Batch
from library.careful import careful_optimizers, constant
from library.corpus import Corpus, read_corpus
from library.gpt2 import Gpt2
from library.pretrain import Method, Plan, pretrain

TRAIN_POSITIONS = 81_920  # the budget, equal for both methods
VOCABULARY = 2000
ROWS = 2  # of a step
CONTEXT = 256
WIDTH = 128
LAYERS = 1
HEADS = 4


def run(
    name: str,
    hypothesis: str,
    change: str,
    batches: Callable[[Tokenizer, list[Corpus]], Callable[[], Batch]],
) -> None:
    method = Method(name, hypothesis, change, careful_optimizers, constant)
    plan = Plan(
        vocabulary=VOCABULARY,
        steps=TRAIN_POSITIONS // (ROWS * CONTEXT),
        model=lambda vocabulary: Gpt2(vocabulary, CONTEXT, WIDTH, LAYERS, HEADS),
        batches=batches,
    )
    text = read_corpus("brown-smoke", Path("data/train.jsonl"), lambda row: row["text"], every=3)
    pretrain(method, plan, [text])
