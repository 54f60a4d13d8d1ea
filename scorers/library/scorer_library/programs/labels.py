"""Reads the private data of a task whose submission is a program.

- labels.jsonl: `{"id", "label"}`, one line for each test image
- program.json: `{"column", "seconds", "memoryBytes"}`: the column of submission.csv, and the limits of a run
- test/: what the program gets as `--data_dir`, without a label
"""

import json
from dataclasses import dataclass
from pathlib import Path

from mlrb_kit.results import read_jsonl
from scorer_library.programs.run import ProgramLimits

DISK_BYTES = 2**30


@dataclass(frozen=True)
class ProgramTest:
    column: str
    limits: ProgramLimits
    labels: dict[str, str]  # by id of the image, in the order of the file
    images: Path


def read_test(private: Path) -> ProgramTest:
    settings = json.loads((private / "program.json").read_text(encoding="utf-8"))
    labels = {row["id"]: str(row["label"]) for row in read_jsonl(private / "labels.jsonl")}
    if not labels:
        raise ValueError("labels.jsonl holds no label")
    limits = ProgramLimits(settings["seconds"], settings["memoryBytes"], DISK_BYTES)
    return ProgramTest(settings["column"], limits, labels, private / "test")
