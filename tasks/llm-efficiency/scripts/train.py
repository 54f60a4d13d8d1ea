"""What both agents share: the same base, rows, order, steps and deadline.

What they differ in, the method, arrives as a Method. Both train a low-rank adapter (Hu et al. 2021) and
merge it. A seed gives the same bytes again on the same machine: one thread, deterministic kernels, and a
budget counted in rows, never in seconds.
"""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional as F

from library.device import device, products
from library.hand_in import Described, append_iteration, write_provenance
from library.llama import Llama, given_model, save_model
from library.repeatable import repeatable
from measure import accuracy
from rows import Row, answer_of, read_rows, text_of

ROWS = 48  # the budget, equal for both methods
RANK = 8
SAVE_SECONDS = 60.0  # kept free before the deadline: a merge, half a gigabyte to write, and measuring
MEASURE_SECONDS = 5.0  # before the deadline measuring ends, whatever was asked so far
UNSCORED = -100  # a label that the loss passes over


@dataclass(frozen=True)
class Method(Described):
    batch: int  # rows a step
    matrices: list[str]  # which the adapter changes, by their names in every layer
    alpha: int
    rate: float
    rate_factor: Callable[[int, int], float]  # of a step and the number of steps
    answers_only: bool  # whether the loss is taken on the answers alone


def run(method: Method) -> None:
    seed = int(os.environ["MLRB_SEED"])
    deadline = float(os.environ["MLRB_DEADLINE"])
    repeatable()

    base = Path("models/base")
    rows, dev = read_rows(Path("data/train.jsonl"))
    tokenizer = Tokenizer.from_file(str(base / "tokenizer.json"))
    model = given_model(base)
    torch.manual_seed(seed)
    tokens = train(model, tokenizer, method, batches(rows, seed, method.batch), deadline - SAVE_SECONDS)
    model.merge()

    submission = Path(os.environ["MLRB_SUBMISSION"])
    save_model(submission, model, base)
    provenance = {
        "base": "SmolLM2-135M-Instruct",
        "experts": [],
        "data": ["invented-facts"],
        "tokenizer": "the base model's",
        "trainTokens": tokens,
    }
    write_provenance(submission, provenance)

    found = accuracy(model, tokenizer, dev, deadline - MEASURE_SECONDS)
    print(f"{method.name}: seed {seed}, {tokens} tokens, dev accuracy {found}", flush=True)
    append_iteration(method, "accuracy", found)


def train(
    model: Llama, tokenizer: Tokenizer, method: Method, steps: Iterator[list[Row]], stop_at: float
) -> int:
    """Takes all steps, or fewer when the clock reaches `stop_at`; returns the tokens trained on."""
    adapted = model.adapt(method.matrices, RANK, method.alpha)
    optimizer = torch.optim.AdamW(adapted, lr=method.rate)
    started = time.monotonic()
    count = ROWS // method.batch
    tokens = 0
    for step, drawn in enumerate(steps):
        if time.time() > stop_at:
            print(f"the deadline is near: stopped after {step} of {count} steps", flush=True)
            return tokens
        optimizer.param_groups[0]["lr"] = method.rate * method.rate_factor(step, count)
        ids, mask, labels = (part.to(device()) for part in encode(tokenizer, drawn, method.answers_only))
        loss = loss_of(model, ids, labels)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(adapted, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        tokens += int(mask.sum())
        if step % 4 == 0 or step == count - 1:
            seconds = time.monotonic() - started
            print(f"step {step + 1}/{count} loss {loss.item():.3f} {seconds:.0f} s", flush=True)
    return tokens


def loss_of(model: Llama, ids: Tensor, labels: Tensor) -> Tensor:
    """The mean over what has a label; logits, of 49 152 tokens each, are made for nothing else."""
    learnt = labels[:, 1:] != UNSCORED
    with products():
        logits = model.logits(model.model(ids)[:, :-1][learnt])
    return F.cross_entropy(logits.float(), labels[:, 1:][learnt])


def batches(rows: list[Row], seed: int, size: int) -> Iterator[list[Row]]:
    """For every step: rows in an order that is the seed's alone, every one before any comes again."""
    draw = torch.Generator().manual_seed(seed)
    order: list[int] = []
    while len(order) < ROWS:
        order += torch.randperm(len(rows), generator=draw).tolist()
    for first in range(0, ROWS, size):
        yield [rows[at] for at in order[first : first + size]]


def encode(tokenizer: Tokenizer, rows: list[Row], answers_only: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Ids, mask and labels of a batch, padded on the right; what has the label UNSCORED is not learnt."""
    asked = [tokenizer.encode(text_of(row), add_special_tokens=False).ids for row in rows]
    whole = [tokenizer.encode(text_of(row) + answer_of(row), add_special_tokens=False).ids for row in rows]
    shape = (len(rows), max(map(len, whole)))
    ids, mask = torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.long)
    labels = torch.full(shape, UNSCORED)
    for at, (question, both) in enumerate(zip(asked, whole, strict=True)):
        ids[at, : len(both)] = torch.tensor(both)
        mask[at, : len(both)] = 1
        first = len(question) if answers_only else 0
        labels[at, first : len(both)] = torch.tensor(both[first:])
    return ids, mask, labels
