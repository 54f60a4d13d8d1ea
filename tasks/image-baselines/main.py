"""The submitted program: predicts the label of each image of a folder, and writes submission.csv."""

import argparse
import csv
import json
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

from networks import NETWORKS, device, predict

HERE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data_dir", type=Path, required=True)
    data = parser.parse_args().data_dir
    about = json.loads((HERE / "model.json").read_text())
    network = NETWORKS[about["network"]]().to(device())
    network.load_state_dict(load_file(HERE / "weights.safetensors"))
    torch.set_num_threads(1)
    with (data / "images.csv").open() as listed:
        rows = list(csv.DictReader(listed))
    images = np.stack([np.load(data / row["image"], allow_pickle=False) for row in rows])
    with torch.inference_mode():
        labels = predict(network.eval(), images)
    with Path("submission.csv").open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["image_id", about["column"]])
        writer.writerows((row["image_id"], label) for row, label in zip(rows, labels, strict=True))


if __name__ == "__main__":
    main()
