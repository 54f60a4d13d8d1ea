"""What both agents share: the same rows in the same order, the same model, the deadline.

What they differ in, the method and which tokens it learns, arrives from them. A seed gives the same bytes
again on the same machine: one thread, deterministic kernels, and a budget of rows, never of seconds.
"""

import os
from pathlib import Path

import torch

from library.batches import UNSCORED
from library.device import device
from library.gpt2 import Gpt2
from library.hand_in import append_iteration, hand_in, write_json
from library.pretrain import SAVE_SECONDS, Method, train
from library.repeatable import repeatable
from rows import TEMPLATE, Draw, Row, batch_of, make_rows, prompt_of, read_items
from words import train_words

TRAIN_ROWS = 4_320  # the budget, equal for both methods: about 225 000 tokens, 1.3 times the data
BATCH = 12
CONTEXT = 160
WIDTH = 96
LAYERS = 2
HEADS = 4


def run(method: Method, *, formal_only: bool) -> None:
    """`formal_only`: the loss leaves out the prompt, which the model is only ever given."""
    seed = int(os.environ["MLRB_SEED"])
    deadline = float(os.environ["MLRB_DEADLINE"])
    torch.manual_seed(seed)
    repeatable()

    items = read_items(Path("data/train.jsonl"))
    tokenizer = train_words([text for item in items for text in (prompt_of(item), item["formal_proof"])])
    model = Gpt2(tokenizer.get_vocab_size(), CONTEXT, WIDTH, LAYERS, HEADS).to(device())
    draw = Draw(make_rows(tokenizer, items), BATCH, formal_only)
    train(model, method, TRAIN_ROWS // BATCH, draw, deadline - SAVE_SECONDS)

    provenance = {
        "base": None,
        "experts": [],
        "data": ["house-math"],
        "tokenizer": "words and signs of the given data",
        "trainTokens": draw.tokens,
    }
    submission = Path(os.environ["MLRB_SUBMISSION"])
    hand_in(submission, model, tokenizer, provenance)
    write_json(submission / "prompt.json", {"formatVersion": 1, "template": TEMPLATE})

    dev = exact_match(model, make_rows(tokenizer, read_items(Path("data/dev.jsonl"))))
    print(f"{method.name}: seed {seed}, {draw.tokens} tokens, dev {dev:.4f} word for word", flush=True)
    append_iteration(method, "exact-match", dev)


@torch.inference_mode()
def exact_match(model: Gpt2, rows: list[Row]) -> float:
    """The share of rows whose formal proof the model would write word for word, always taking the likeliest
    word: those where it is the likeliest everywhere, given the words before it."""
    hits = 0
    for row in rows:
        inputs, targets = batch_of([row], formal_only=True)
        likeliest = model(inputs.to(device())).argmax(dim=-1).cpu()
        hits += int(((likeliest == targets) | (targets == UNSCORED)).all())
    return hits / len(rows)
