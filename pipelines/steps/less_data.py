"""Leaves a share of the rows of public data (JSON Lines, Parquet); copies all else, and private data whole.

A row stays where a hash of its place is small, so less data is part of more. Of a file with few rows, e.g. of
whole books, each text loses its end instead.
    python less_data.py --param share=0.1 --input public=DIR --input private=DIR \\
        --output public=DIR --output private=DIR
"""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from mlrb_kit.stage import read_stage

FEW_ROWS = 100


def stays(place: int, share: float) -> bool:
    digest = hashlib.sha256(str(place).encode()).digest()
    return int.from_bytes(digest[:6]) < share * 2**48


def less(rows: list[dict[str, Any]], share: float) -> list[dict[str, Any]]:
    if len(rows) >= FEW_ROWS:
        return [row for place, row in enumerate(rows) if stays(place, share)]
    return [{name: begin(value, share) for name, value in row.items()} for row in rows]


def begin(value: Any, share: float) -> Any:
    """The first lines of a long text, a share of its characters."""
    if not isinstance(value, str) or len(value) < 10_000:
        return value
    length = int(len(value) * share)
    end = value.rfind("\n", 0, length)
    return value[: length if end < 0 else end]


def lessen(source: Path, target: Path, share: float) -> None:
    if source.suffix == ".jsonl":
        with source.open(encoding="utf-8") as lines:
            rows = less([json.loads(line) for line in lines], share)
        text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
        target.write_text(text, encoding="utf-8")
    elif source.suffix == ".parquet":
        table = pq.read_table(source)
        if table.num_rows >= FEW_ROWS:
            kept = pa.array([stays(place, share) for place in range(table.num_rows)])
            pq.write_table(table.filter(kept), target)
        else:
            pq.write_table(pa.Table.from_pylist(less(table.to_pylist(), share), table.schema), target)
    else:
        shutil.copyfile(source, target)


def main() -> None:
    stage = read_stage()
    share = stage.param("share")
    for name in ("public", "private"):
        source, target = stage.input(name), stage.output(name)
        target.mkdir(parents=True, exist_ok=True)
        for path in sorted(source.rglob("*")):
            to = target / path.relative_to(source)
            if path.is_dir():
                to.mkdir(exist_ok=True)
            elif name == "public" and share is not None:
                lessen(path, to, share)
            else:
                shutil.copyfile(path, to)


if __name__ == "__main__":
    main()
