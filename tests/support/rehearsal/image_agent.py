"""What a scripted agent runs in its workspace at the tasks with images: it submits a program without a model.

It reads the images of training as the hub has them. `COLUMN` is the label's name.
"""

import io
import sys
from pathlib import Path

import pyarrow.parquet as pq
from PIL import Image

PROGRAM = """
import argparse, csv
from pathlib import Path
from PIL import Image

parser = argparse.ArgumentParser()
parser.add_argument("--data_dir", type=Path)
data = parser.parse_args().data_dir
with (data / "images.csv").open() as listed, Path("submission.csv").open("w", newline="") as out:
    writer = csv.writer(out)
    writer.writerow(["image_id", "COLUMN"])
    for row in csv.DictReader(listed):
        pixel = Image.open(data / row["image"]).convert("RGB").getpixel((0, 0))
        writer.writerow([row["image_id"], pixel.index(max(pixel))])
"""


def main(column: str) -> None:
    files = sorted(Path("data").rglob("*.parquet"))
    if not files or any("test" in file.name for file in files):
        raise SystemExit(f"unexpected files: {[str(file) for file in files]}")
    for file in files:
        for row in pq.read_table(file).to_pylist():
            pixel = Image.open(io.BytesIO(row["image"]["bytes"])).convert("RGB").getpixel((0, 0))
            assert pixel.index(max(pixel)) == row[column], (file, row["image_id"])
    Path("submission/main.py").write_text(PROGRAM.replace("COLUMN", column))
    print(f"read {len(files)} files with Pillow")


if __name__ == "__main__":
    main(sys.argv[1])
