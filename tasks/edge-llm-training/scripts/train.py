"""What both agents share: the same two kinds of text, rows and compute.

What they differ in, the model's shape, its tokenizer's size and how it is trained, arrives from them. The
budget is compute, since a token costs a model of another shape another amount.
"""

from functools import partial
from pathlib import Path

from library.batches import packed
from library.corpus import read_corpus
from library.gpt2 import Gpt2
from library.pretrain import Method, Plan, pretrain

TRAIN_FLOPS = 80e9  # the budget, equal for both methods
CONTEXT = 128  # of the rows trained on
POSITIONS = 2128  # the model's own: it must read 2 000 tokens and write 128
LAYERS = 1
HEADS = 4


def run(method: Method, vocabulary: int, width: int, rows: int, tied: bool) -> None:
    plan = Plan(
        vocabulary=vocabulary,
        steps=int(TRAIN_FLOPS // (flops_a_token(vocabulary, width) * rows * CONTEXT)),
        model=lambda found: Gpt2(found, POSITIONS, width, LAYERS, HEADS, tied),
        batches=partial(packed, rows=rows, context=CONTEXT),
    )
    data = Path("data")
    text = read_corpus("brown-smoke", data / "train.jsonl", lambda row: row["text"], every=3)
    instructions = read_corpus("instructions-smoke", data / "instructions.jsonl", instruction_text)
    pretrain(method, plan, [text, instructions])


def instruction_text(row: dict[str, str]) -> str:
    return f"{row['instruction']}\n{row['input']}\n{row['output']}\n"


def flops_a_token(vocabulary: int, width: int) -> int:
    """6 for each element of the matrices that a token is multiplied with: 2 forward, 4 backward.

    Kaplan et al. 2020, arXiv:2001.08361; attention itself, under a tenth here, is left out.
    """
    return 6 * (vocabulary * width + LAYERS * 12 * width**2)
