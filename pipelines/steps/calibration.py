"""Measures how fast this host trains a fixed small model and copies memory, so that tables can compare hosts.

The model is never saved. Values of a GPU and of a CPU come from other recipes and must not be compared.
By hand: PYTHONPATH=runners/kit/python python pipelines/steps/calibration.py
    --param seconds=60 --output calibration=FILE
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mlrb_kit.canonical import write_canonical
from mlrb_kit.device import device, device_name, finished, on_gpu
from mlrb_kit.stage import read_stage

WARMUPS = 3
COPIES = 20


@dataclass(frozen=True)
class Recipe:
    """A GPT-2, and what a step reads."""

    layers: int
    width: int
    vocabulary: int
    batch: int
    tokens: int
    copied_bytes: int
    share: float  # of the stage's seconds


GPU = Recipe(12, 768, 50257, 8, 512, 2**30, 1.0)  # GPT-2 of 124 M parameters
CPU = Recipe(2, 128, 1000, 4, 128, 2**27, 1 / 12)


def main() -> None:
    stage = read_stage()
    recipe = GPU if on_gpu() else CPU
    seconds = float(stage.param("seconds")) * recipe.share
    found = {
        "formatVersion": 1,
        "device": device_name(),
        "tokensPerSecond": recipe.batch * recipe.tokens / training_step(recipe, seconds),
        "bytesPerSecond": 2 * recipe.copied_bytes / copy(recipe.copied_bytes),  # read and written
    }
    write_canonical(stage.output("calibration"), found)
    speed = f"{found['tokensPerSecond']:.0f} tokens/s in training"
    print(f"{found['device']}: {speed}, {found['bytesPerSecond'] / 1e9:.1f} GB/s of memory")


def training_step(recipe: Recipe, seconds: float) -> float:
    """The median seconds of a step with AdamW, of as many as fit into `seconds`; on a GPU in BF16."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=recipe.vocabulary,
        n_positions=recipe.tokens,
        n_embd=recipe.width,
        n_layer=recipe.layers,
        n_head=recipe.width // 64,
        attn_pdrop=0,
        embd_pdrop=0,
        resid_pdrop=0,
    )
    model = GPT2LMHeadModel(config).to(device()).train()
    optimizer = torch.optim.AdamW(model.parameters())
    ids = torch.randint(recipe.vocabulary, (recipe.batch, recipe.tokens)).to(device())

    def step() -> None:
        with torch.autocast(device().type, torch.bfloat16, enabled=on_gpu()):
            loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    for _ in range(WARMUPS):
        step()
    times: list[float] = []
    while not times or sum(times) < seconds:
        times.append(timed(step))
    return statistics.median(times)


def copy(size: int) -> float:
    """The median seconds of a copy of `size` bytes within the device's memory."""
    import torch

    source = torch.ones(size // 4, dtype=torch.float32, device=device())
    target = torch.empty_like(source)
    target.copy_(source)
    return statistics.median(timed(lambda: target.copy_(source)) for _ in range(COPIES))


def timed(work: Callable[[], Any]) -> float:
    finished()
    begin = time.perf_counter()
    work()
    finished()
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
