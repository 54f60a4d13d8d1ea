"""Writes SuperGLUE as the hub has it (nested columns, Zstandard), or reads private rows like the scorer.

super_glue_files.py write FOLDER, or super_glue_files.py read PRIVATE.
"""

import json
import sys
from pathlib import Path

import pyarrow as arrow
from pyarrow import parquet

from scorer_library.lm_eval.data import read_hub_data
from scorer_library.lm_eval.super_glue import DATA, TASKS

VALUES = {"text": "A text: é.", "whole": 1, "texts": ["one", "two"]}


def main() -> None:
    what, folder = sys.argv[1], Path(sys.argv[2])
    if what == "read":
        print(json.dumps(read_hub_data(folder, DATA)))
        return
    for config in [*TASKS, "wsc", "axb"]:
        columns = TASKS[config].columns if config in TASKS else {"text": "text"}
        row = {name: VALUES[kind] for name, kind in columns.items()}
        if config == "copa":
            row["question"] = "cause"
        idx = {"paragraph": 7, "passage": 8, "question": 9}
        table = arrow.Table.from_pylist([{**row, "idx": idx}, {**row, "idx": idx}])
        (folder / config).mkdir(parents=True)
        parquet.write_table(table, folder / config / "validation-00000-of-00001.parquet", compression="zstd")


if __name__ == "__main__":
    main()
