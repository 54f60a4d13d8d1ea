"""What both agents share: model, calibration tokens, how many blocks go, and the deadline.

What they differ in, how the blocks are chosen, arrives as a Method. Nothing is trained and no number is
rounded: a block is there or it is not. A seed gives the same bytes again on the same machine.
"""

import json
import math
import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional as F

from library.device import device
from library.hand_in import Described, append_iteration, write_provenance
from library.llama import Llama, given_model, save_model
from library.repeatable import repeatable

BASE = Path("models/base")
TAKEN_OUT = 8  # of the base model's 30 blocks
ROW_TOKENS = 128  # the first of them is BOS
READ_TOKENS = 1024  # the budget for choosing, equal for both methods
DEV_ROWS = 4
DEV_EVERY = 5  # every 5th text is kept out of choosing, to measure on
SAVE_SECONDS = 20.0  # kept free before the deadline for saving, and for measuring after that

Blocks = list[int]


@dataclass(frozen=True)
class Method(Described):
    # of the model, rows of tokens and a clock that says when to stop: the blocks to take out, the tokens read
    choose: Callable[[Llama, list[Tensor], Callable[[], bool]], tuple[Blocks, int]]


def run(method: Method) -> None:
    seed = int(os.environ["MLRB_SEED"])
    deadline = float(os.environ["MLRB_DEADLINE"])
    torch.manual_seed(seed)
    repeatable()

    tokenizer = Tokenizer.from_file(str(BASE / "tokenizer.json"))
    model = given_model(BASE)
    rows, dev_rows = calibration_rows(tokenizer, model.config["bos_token_id"], random.Random(seed))

    dropped, tokens = method.choose(model, rows, lambda: time.time() > deadline - SAVE_SECONDS)
    if tokens < READ_TOKENS:
        print(f"the deadline is near: stopped after {tokens} of {READ_TOKENS} tokens", flush=True)
    model.model.layers = without(model, dropped)
    model.config["num_hidden_layers"] = len(model.model.layers)
    save(Path(os.environ["MLRB_SUBMISSION"]), model, {"calibrationTokens": tokens, "blocksTakenOut": dropped})

    dev = bits_per_byte(model, tokenizer, dev_rows)
    print(f"{method.name}: seed {seed}, without blocks {dropped}, dev {dev:.4f} bits per byte", flush=True)
    append_iteration(method, "bits-per-byte", dev)


def save(folder: Path, model: Llama, found: dict[str, Any]) -> None:
    save_model(folder, model, BASE)
    provenance = {
        "base": "models/base",
        "experts": [],
        "data": ["brown-calibration"],
        "tokenizer": "the base model's, unchanged",
        "trainTokens": 0,
    }
    write_provenance(folder, {**provenance, **found})


def calibration_rows(
    tokenizer: Tokenizer, start: int, draw: random.Random
) -> tuple[list[Tensor], list[Tensor]]:
    """The beginnings of texts: rows to choose by, drawn by the seed, and others to measure on."""
    with Path("data/train.jsonl").open(encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    dev = texts[DEV_EVERY - 1 :: DEV_EVERY][:DEV_ROWS]  # the same for every seed
    rest = [text for at, text in enumerate(texts) if at % DEV_EVERY != DEV_EVERY - 1]

    def row(text: str) -> Tensor:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        return torch.tensor([start, *ids[: ROW_TOKENS - 1]])

    chosen = draw.sample(rest, READ_TOKENS // ROW_TOKENS)
    return [row(text) for text in chosen], [row(text) for text in dev]


def without(model: Llama, dropped: Blocks) -> nn.ModuleList:
    return nn.ModuleList(block for at, block in enumerate(model.model.layers) if at not in dropped)


def evenly_spaced(blocks: int, shift: int) -> Blocks:
    return [shift + at * blocks // TAKEN_OUT for at in range(TAKEN_OUT)]


@torch.inference_mode()
def bits(model: Llama, rows: list[Tensor]) -> float:
    """Of all tokens after the first of each row."""
    nats = 0.0
    for row in rows:
        logits = model(row[None].to(device()))[0, :-1].cpu()
        nats += F.cross_entropy(logits, row[1:], reduction="sum").item()
    return nats / math.log(2)


def bits_per_byte(model: Llama, tokenizer: Tokenizer, rows: list[Tensor]) -> float:
    size = sum(len(tokenizer.decode(row[1:].tolist()).encode()) for row in rows)
    return bits(model, rows) / size
