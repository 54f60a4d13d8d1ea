"""Provides private rows to lm-eval's own task files, in the layout of a data set on the hub.

`datasets.load_dataset("owner/name", config)` prefers a folder of that relative name to the hub. So a task
file that lm-eval ships runs unchanged and without a network from a working directory with such a folder.
Errors in the data are never the submission's fault: they end the script, and the score is not measured.
"""

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Row = dict[str, Any]
Kind = Literal["text", "whole", "texts"]
Columns = dict[str, Kind]


@dataclass(frozen=True)
class HubData:
    folder: str  # under the private folder; holds CONFIG/SPLIT.jsonl, rows in the hub's shape
    repository: str  # its name in the task files, e.g. owner/name
    split: str  # the scored split
    shots: str | None  # the split of few-shot examples, which lm-eval opens even for 0-shot tasks
    columns: Callable[[str], Columns | None]  # the columns that the task files read, by config
    trouble: Callable[[str, Row], str | None]  # checks a row of a config; returns what is wrong


def read_hub_data(private: Path, data: HubData) -> dict[str, list[Row]]:
    """The rows of each config, sorted by config. Ends the script where there are none."""
    root = private / data.folder
    configs = sorted(path.name for path in root.iterdir() if path.is_dir()) if root.is_dir() else []
    if not configs:
        raise at_fault(
            data.folder, f"no data; expected folders CONFIG with {data.split}.jsonl, as in {data.repository}"
        )
    return {config: read_config(root, config, data) for config in configs}


def read_config(root: Path, config: str, data: HubData) -> list[Row]:
    place = f"{data.folder}/{config}"
    columns = data.columns(config)
    if columns is None:
        raise at_fault(place, f"{data.repository} has no such config that lm-eval reads")
    place, path = f"{place}/{data.split}.jsonl", root / config / f"{data.split}.jsonl"
    if not path.is_file():
        raise at_fault(place, "no such file")
    rows = []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                rows.append(read_row(line, f"{place}:{number}", columns))
                if trouble := data.trouble(config, rows[-1]):
                    raise at_fault(f"{place}:{number}", trouble)
    if not rows:
        raise at_fault(place, "no rows")
    return rows


def read_row(line: str, place: str, columns: Columns) -> Row:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise at_fault(place, f"no JSON: {error}") from error
    if not isinstance(row, dict):
        raise at_fault(place, "no JSON object")
    for column, kind in columns.items():
        if column not in row:
            raise at_fault(place, f"no field {column!r}")
        if not of_kind(row[column], kind):
            raise at_fault(place, f"field {column!r} is {row[column]!r:.60}, expected {WORDS[kind]}")
    return row


WORDS = {"text": "a string", "whole": "a whole number", "texts": "a list of strings"}


def of_kind(value: Any, kind: Kind) -> bool:
    match kind:
        case "text":
            return isinstance(value, str)
        case "whole":
            return isinstance(value, int) and not isinstance(value, bool)
        case "texts":
            return isinstance(value, list) and bool(value) and all(isinstance(part, str) for part in value)


def at_fault(place: str, trouble: str) -> SystemExit:
    return SystemExit(f"{place}: {trouble}. The private data is at fault, not the submission")


@contextmanager
def local_hub(data: HubData, rows: dict[str, list[Row]]) -> Iterator[None]:
    """Changes into a temporary folder that holds the data under the hub's name, and works offline.

    Enter it before transformers, datasets or lm_eval are imported: they read the environment on import.
    """
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        # a forked process keeps the values that its parent read on import, so the cache folder, which
        # matters, is set on the module too
        quiet = {"LMEVAL_LOG_LEVEL": "ERROR", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1", "TQDM_DISABLE": "1"}
        offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": f"{folder}/home"}
        os.environ.update(quiet | offline)
        import datasets

        kept = datasets.config.HF_DATASETS_CACHE
        # a cache for each job: it identifies local files by name and time, and names are equal in every job
        datasets.config.HF_DATASETS_CACHE = Path(folder, "cache")
        datasets.disable_progress_bars()
        write_hub_data(Path(folder), data, rows)
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
            datasets.config.HF_DATASETS_CACHE = kept


def write_hub_data(folder: Path, data: HubData, rows: dict[str, list[Row]]) -> None:
    """Writes Parquet with a schema: from JSON, datasets would guess types (dates would not stay text)."""
    import pyarrow as arrow
    from pyarrow import parquet

    types = {"text": arrow.string(), "whole": arrow.int64(), "texts": arrow.list_(arrow.string())}
    root = folder / data.repository
    for config, found in rows.items():
        columns = data.columns(config) or {}
        schema = arrow.schema([(name, types[kind]) for name, kind in columns.items()])
        (root / config).mkdir(parents=True)
        for split in splits_of(data):
            # few-shot examples are opened, never shown: all tasks are 0-shot
            part = found if split == data.split else found[:1]
            table = arrow.Table.from_pylist(
                [{name: row[name] for name in schema.names} for row in part], schema
            )
            parquet.write_table(table, root / config / f"{split}.parquet")
    write_card(folder, data, list(rows))


def write_card(folder: Path, data: HubData, configs: Sequence[str]) -> None:
    """Lists configs where `datasets` looks for them. It parses the whole list for each config that it loads:
    67 times for 67 configs (1.5 s), so a caller that loads one after the other lists one at a time."""
    front = [
        {
            "config_name": config,
            "data_files": [
                {"split": split, "path": f"{config}/{split}.parquet"} for split in splits_of(data)
            ],
        }
        for config in configs
    ]
    card = json.dumps({"configs": front}, indent=2)  # JSON is YAML
    (folder / data.repository / "README.md").write_text(f"---\n{card}\n---\n", encoding="utf-8")


def splits_of(data: HubData) -> list[str]:
    return [data.split] if data.shots is None else [data.split, data.shots]
