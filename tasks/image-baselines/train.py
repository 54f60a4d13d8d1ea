"""What the baselines of both tasks with images share: reading, optimizer and the budget of images seen.

A task's settings.py has its numbers, and networks.py the networks, of which each baseline chooses one. The
tasks have links to this file and to main.py; an attempt gets the files themselves.
"""

import json
import os
import shutil
import time
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

from library.hand_in import Iteration, append_iteration, write_json, write_provenance
from library.repeatable import repeatable
from networks import NETWORKS, device, loss, pixels, predict
from settings import COLUMN, DATA, IMAGES, RATE

ROWS = 16  # of a step
HELD_OUT = 5  # every so many images are kept to measure on
SAVE_SECONDS = 10.0
HERE = Path(__file__).parent


def run(name: str, network_name: str, hypothesis: str, change: str) -> None:
    torch.manual_seed(int(os.environ["MLRB_SEED"]))
    repeatable()
    deadline = float(os.environ["MLRB_DEADLINE"]) - SAVE_SECONDS
    rows = [json.loads(line) for line in Path("data/train.jsonl").read_text().splitlines()]
    images = np.stack([np.load(Path("data", row["image"]), allow_pickle=False) for row in rows])
    labels = [row[COLUMN] for row in rows]
    held = np.arange(len(rows)) % HELD_OUT == 0
    network = NETWORKS[network_name]().to(device())
    train(
        network,
        pixels(images[~held]),
        [one for one, out in zip(labels, held, strict=True) if not out],
        deadline,
    )
    with torch.inference_mode():
        found = predict(network.eval(), images[held])
    expected = [one for one, out in zip(labels, held, strict=True) if out]
    share = sum(a == b for a, b in zip(found, expected, strict=True)) / len(expected)
    print(f"{name}: {share:.3f} of {len(expected)} held-out images", flush=True)
    hand_in(network_name, network)
    metric = {"name": "image-accuracy", "split": "dev", "value": share}
    append_iteration(
        Path("iterations.jsonl"), Iteration(name, hypothesis, change, f"python {name}.py", metric)
    )


def train(network: torch.nn.Module, images: torch.Tensor, labels: list, deadline: float) -> None:
    steps = IMAGES // ROWS
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps)
    for step in range(steps):
        if time.time() > deadline:
            print(f"the deadline is near: stopped after {step} of {steps} steps", flush=True)
            return
        drawn = torch.randint(len(labels), (ROWS,))
        loss(network, images[drawn], [labels[at] for at in drawn.tolist()]).backward()
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()


def hand_in(network_name: str, network: torch.nn.Module) -> None:
    folder = Path(os.environ["MLRB_SUBMISSION"])
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("main.py", "networks.py"):
        shutil.copyfile(HERE / name, folder / name)
    save_file(
        {name: value.cpu().contiguous() for name, value in network.state_dict().items()},
        folder / "weights.safetensors",
    )
    write_json(folder / "model.json", {"network": network_name, "column": COLUMN})
    write_provenance(folder, {"base": None, "data": [DATA]})
