"""What both agents share: the same text, tokenizer, shape of rows and token budget.

What they differ in, the method, the layers and the rows of a step, arrives from them.
"""

from functools import partial
from pathlib import Path

from library.batches import packed
from library.corpus import read_corpus
from library.gpt2 import Gpt2
from library.pretrain import Method, Plan, pretrain

TRAIN_TOKENS = 57_344  # the budget, equal for both methods
VOCABULARY = 2000
CONTEXT = 128
WIDTH = 128
HEADS = 4


def run(method: Method, batch: int, layers: int) -> None:
    plan = Plan(
        vocabulary=VOCABULARY,
        steps=TRAIN_TOKENS // (batch * CONTEXT),
        model=lambda vocabulary: Gpt2(vocabulary, CONTEXT, WIDTH, layers, HEADS),
        batches=partial(packed, rows=batch, context=CONTEXT),
    )
    text = read_corpus("brown-smoke", Path("data/train.jsonl"), lambda row: row["content"], every=3)
    pretrain(method, plan, [text])
