"""The part that minimal and reference share: the same text, tokenizer, token budget and deadline.

What they differ in, the method, arrives as a Method. A seed gives the same bytes again on the same
machine: one thread, deterministic kernels, and steps counted in tokens, never in seconds.
"""

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional as F

from hand_in import Iteration, append_iteration, hand_in
from model import Gpt2
from text import END, read_texts, train_tokenizer

TRAIN_TOKENS = 196_608  # the budget, equal for both methods
VOCABULARY = 2000
CONTEXT = 128
WIDTH = 128
HEADS = 4
SAVE_SECONDS = 15.0  # kept free before the deadline for measuring and saving


@dataclass(frozen=True)
class Method:
    name: str
    hypothesis: str
    change: str
    batch: int
    layers: int
    # of the model and the number of steps: the optimizers, and the factor of their rates at a step
    optimizers: Callable[[Gpt2], list[torch.optim.Optimizer]]
    rate_factor: Callable[[int, int], float]


def run(method: Method) -> None:
    seed = int(os.environ["MLRB_SEED"])
    deadline = float(os.environ["MLRB_DEADLINE"])
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)

    train_texts, dev_texts = read_texts(Path("data/train.jsonl"))
    tokenizer = train_tokenizer(train_texts, VOCABULARY)
    stream = encode(tokenizer, train_texts)
    model = Gpt2(tokenizer.get_vocab_size(), CONTEXT, WIDTH, method.layers, HEADS)
    tokens = train(model, method, stream, tokenizer.token_to_id(END), deadline - SAVE_SECONDS)

    dev = bits_per_byte(model, tokenizer, dev_texts)
    print(f"{method.name}: seed {seed}, {tokens} tokens, dev {dev:.4f} bits per byte", flush=True)
    hand_in(Path(os.environ["MLRB_SUBMISSION"]), model, tokenizer, tokens)
    append_iteration(
        Path("iterations.jsonl"),
        Iteration(f"{method.name}-1", method.hypothesis, method.change, f"{method.name}.py", dev),
    )


def encode(tokenizer: Tokenizer, texts: list[str]) -> Tensor:
    """All texts as one row of token ids, each text followed by END."""
    end = tokenizer.token_to_id(END)
    ids = [token for row in tokenizer.encode_batch(texts) for token in [*row.ids, end]]
    return torch.tensor(ids)


def train(model: Gpt2, method: Method, stream: Tensor, end: int, stop_at: float) -> int:
    """Trains for the token budget, or less when the clock reaches `stop_at`; returns the tokens used."""
    optimizers = method.optimizers(model)
    rates = [[group["lr"] for group in optimizer.param_groups] for optimizer in optimizers]
    steps = TRAIN_TOKENS // (method.batch * CONTEXT)
    reach = torch.arange(CONTEXT)
    started = time.monotonic()
    for step in range(steps):
        if time.time() > stop_at:
            print(f"the deadline is near: stopped after {step} of {steps} steps", flush=True)
            return step * method.batch * CONTEXT
        factor = method.rate_factor(step, steps)
        for optimizer, base in zip(optimizers, rates, strict=True):
            for group, rate in zip(optimizer.param_groups, base, strict=True):
                group["lr"] = rate * factor
        starts = torch.randint(len(stream) - CONTEXT, (method.batch, 1))
        targets = stream[starts + reach]  # (batch, CONTEXT)
        # every row starts with END, as every scored window does
        inputs = torch.cat([torch.full((method.batch, 1), end), targets[:, :-1]], dim=1)
        loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
        if step % 50 == 0 or step == steps - 1:
            print(
                f"step {step + 1}/{steps} loss {loss.item():.3f} {time.monotonic() - started:.0f} s",
                flush=True,
            )
    return steps * method.batch * CONTEXT


@torch.inference_mode()
def bits_per_byte(model: Gpt2, tokenizer: Tokenizer, texts: list[str]) -> float:
    """On the beginnings of `texts`, in windows of 256 characters that each start afresh."""
    end = tokenizer.token_to_id(END)
    bits, size = 0.0, 0
    for text in texts:
        for start in range(0, 1024, 256):
            window = text[start : start + 256]
            ids = tokenizer.encode(window).ids[:CONTEXT]
            logits = model(torch.tensor([[end, *ids[:-1]]]))[0]
            bits += F.cross_entropy(logits, torch.tensor(ids), reduction="sum").item() / math.log(2)
            size += len(window.encode())
    return bits / size
