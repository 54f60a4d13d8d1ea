"""Right for every image: a bright image has the label `bright`."""

import argparse
import csv
from pathlib import Path

import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--data_dir", type=Path)
data = parser.parse_args().data_dir
with (data / "images.csv").open() as listed, Path("submission.csv").open("w", newline="") as out:
    writer = csv.writer(out)
    writer.writerow(["image_id", "class"])
    for row in csv.DictReader(listed):
        image = np.load(data / row["image"], allow_pickle=False)
        writer.writerow([row["image_id"], "bright" if image.mean() > 128 else "dark"])
