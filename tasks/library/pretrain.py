"""Pretrains a small model from scratch for a fixed number of steps and hands it in.

A seed gives the same bytes again on the same machine: one thread, deterministic kernels, and a budget
counted in steps, never in seconds. The clock only ends training that the deadline would cut off.
"""

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch.nn import functional as F

from library.batches import UNSCORED, Batch
from library.bpe import END, train_tokenizer
from library.corpus import Corpus
from library.device import device, products
from library.gpt2 import Gpt2
from library.hand_in import Described, append_iteration, hand_in
from library.repeatable import repeatable

SAVE_SECONDS = 15.0  # kept free before the deadline for measuring and saving


@dataclass(frozen=True)
class Method(Described):
    # of the model; and of a step and the number of steps: the factor of the optimizers' rates
    optimizers: Callable[[Gpt2], list[torch.optim.Optimizer]]
    rate_factor: Callable[[int, int], float]


@dataclass(frozen=True)
class Plan:
    vocabulary: int
    steps: int
    model: Callable[[int], Gpt2]  # of the tokens that the tokenizer came to
    batches: Callable[[Tokenizer, list[Corpus]], Callable[[], Batch]]


def pretrain(method: Method, plan: Plan, corpora: list[Corpus]) -> None:
    seed = int(os.environ["MLRB_SEED"])
    deadline = float(os.environ["MLRB_DEADLINE"])
    torch.manual_seed(seed)
    repeatable()

    tokenizer = train_tokenizer([text for corpus in corpora for text in corpus.train], plan.vocabulary)
    draw = plan.batches(tokenizer, corpora)
    model = plan.model(tokenizer.get_vocab_size()).to(device())
    tokens = train(model, method, plan.steps, draw, deadline - SAVE_SECONDS)

    found = [bits_per_byte(model, tokenizer, corpus.dev) for corpus in corpora]
    dev = sum(found) / len(found)
    print(f"{method.name}: seed {seed}, {tokens} tokens, dev {dev:.4f} bits per byte", flush=True)
    provenance = {
        "base": None,
        "experts": [],
        "data": [corpus.name for corpus in corpora],
        "tokenizer": "byte-level BPE, trained on the given data",
        "trainTokens": tokens,
    }
    hand_in(Path(os.environ["MLRB_SUBMISSION"]), model, tokenizer, provenance)
    append_iteration(method, "bits-per-byte", dev)


def train(model: Gpt2, method: Method, steps: int, draw: Callable[[], Batch], stop_at: float) -> int:
    """Takes `steps` steps, or fewer when the clock reaches `stop_at`; returns the tokens trained on."""
    optimizers = method.optimizers(model)
    rates = [[group["lr"] for group in optimizer.param_groups] for optimizer in optimizers]
    started = time.monotonic()
    tokens = 0
    for step in range(steps):
        if time.time() > stop_at:
            print(f"the deadline is near: stopped after {step} of {steps} steps", flush=True)
            break
        factor = method.rate_factor(step, steps)
        for optimizer, base in zip(optimizers, rates, strict=True):
            for group, rate in zip(optimizer.param_groups, base, strict=True):
                group["lr"] = rate * factor
        inputs, targets = (part.to(device()) for part in draw())
        with products():
            logits = model(inputs).flatten(0, 1)
        loss = F.cross_entropy(logits.float(), targets.flatten(), ignore_index=UNSCORED)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
        tokens += int((targets != UNSCORED).sum())
        if step % 50 == 0 or step == steps - 1:
            spent = time.monotonic() - started
            print(f"step {step + 1}/{steps} loss {loss.item():.3f} {spent:.0f} s", flush=True)
    return tokens


@torch.inference_mode()
def bits_per_byte(model: Gpt2, tokenizer: Tokenizer, texts: list[str]) -> float:
    """On the beginnings of `texts`, in windows of 256 characters that each start afresh."""
    end = tokenizer.token_to_id(END)
    bits, size = 0.0, 0
    for text in texts:
        for start in range(0, min(1024, len(text)), 256):
            window = text[start : start + 256]
            ids = tokenizer.encode(window).ids[: model.config["n_positions"]]
            logits = model(torch.tensor([[end, *ids[:-1]]], device=device()))[0].cpu()
            bits += F.cross_entropy(logits, torch.tensor(ids), reduction="sum").item() / math.log(2)
            size += len(window.encode())
    return bits / size
