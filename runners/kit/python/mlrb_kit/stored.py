"""Reads the headers of a submission's safetensors files, without loading a tensor or transformers."""

import json
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from mlrb_kit.reading_limits import INDEX_BYTES, SHARDS, check_header, check_size
from mlrb_kit.rejected import Rejected

FLOATS = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}


class AnyFormat:
    """A safe_open whose metadata names the format, which save_model of safetensors leaves out."""

    def __init__(self, path: str, **options: Any) -> None:
        self.file = safe_open(path, **options)

    def __enter__(self) -> "AnyFormat":
        self.file.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.file.__exit__(*error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def metadata(self) -> dict[str, str]:
        return {"format": "pt", **(self.file.metadata() or {})}


@dataclass(frozen=True)
class Stored:
    parameters: int  # elements over all tensors
    dtype: str  # torch's name of the float type with most elements
    files: dict[str, Path]  # of each tensor, by its name

    def read(self, name: str) -> Any:
        with safe_open(self.files[name], framework="pt") as file:
            return file.get_tensor(name)


def read_stored(folder: Path) -> Stored:
    """Raises Rejected if a file is missing, truncated or inconsistent, or holds no plain floats."""
    elements: dict[str, int] = {}
    files: dict[str, Path] = {}
    for path in weight_files(folder):
        try:
            with safe_open(path, framework="numpy") as file:  # "pt" imports torch, which no header needs
                for name in file.keys():  # noqa: SIM118 (a safe_open is not a dict)
                    part = file.get_slice(name)
                    elements[part.get_dtype()] = elements.get(part.get_dtype(), 0) + prod(part.get_shape())
                    files[name] = path
        except (SafetensorError, OSError, ValueError) as error:
            raise Rejected(f"{path.name} is not a whole safetensors file: {error}") from error
    floats = {dtype: count for dtype, count in elements.items() if dtype in FLOATS}
    if not floats:
        held = ", ".join(sorted(elements)) or "nothing"
        raise Rejected(f"the weights hold no tensor of F64, F32, F16 or BF16, only {held}")
    most = max(sorted(floats), key=lambda dtype: floats[dtype])
    return Stored(sum(elements.values()), FLOATS[most], files)


def weight_files(folder: Path) -> list[Path]:
    """model.safetensors, or the shards named in model.safetensors.index.json; none names a huge header."""
    single = folder / "model.safetensors"
    paths = [single] if single.is_file() else shards(folder)
    for path in paths:
        check_header(path)
    return paths


def shards(folder: Path) -> list[Path]:
    index = folder / "model.safetensors.index.json"
    if not index.is_file():
        raise Rejected("no model.safetensors")
    check_size(index, INDEX_BYTES)
    try:
        names = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
        paths = [folder / name for name in names]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Rejected("model.safetensors.index.json is not an index of weights") from error
    if len(names) > SHARDS:
        raise Rejected(f"{index.name}: {len(names)} shards; at most {SHARDS} are read")
    for name, path in zip(names, paths, strict=True):
        if Path(name).name != name or not path.is_file():
            raise Rejected(
                f"model.safetensors.index.json names {name!r}, which is not a file of the submission"
            )
    return paths
