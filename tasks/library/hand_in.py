"""Writes what is handed in: a Hugging Face model folder with its provenance, and the iteration's line.

For models written out in PyTorch with Hugging Face's tensor names, such as gpt2.py's.
"""

import json
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from safetensors.torch import save_file
from tokenizers import Tokenizer

from library.bpe import END
from library.gpt2 import Gpt2


@dataclass(frozen=True)
class Described:
    """What a method or a candidate says of itself."""

    name: str
    hypothesis: str
    change: str


def hand_in(folder: Path, model: Gpt2, tokenizer: Tokenizer, provenance: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    end = tokenizer.token_to_id(END)
    write_json(folder / "config.json", {**model.config, "bos_token_id": end, "eos_token_id": end})
    tensors = {stored_name(name): tensor.cpu().contiguous() for name, tensor in model.state_dict().items()}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    tokenizer.save(str(folder / "tokenizer.json"))
    write_json(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": END,
            "eos_token": END,
            "clean_up_tokenization_spaces": False,
            "model_max_length": model.config["n_positions"],
        },
    )
    write_provenance(folder, provenance)


def stored_name(name: str) -> str:
    return name if name.startswith("lm_head.") else f"transformer.{name}"


def write_provenance(folder: Path, provenance: dict[str, Any]) -> None:
    write_json(folder / "provenance.json", {"formatVersion": 1, **provenance})


def append_iteration(
    of: Described, metric: str, value: float | None, split: str = "dev", **other: str | None
) -> None:
    """`split`: on which `value` was measured. `other` replaces fields of a script's only iteration."""
    line = {
        "id": f"{of.name}-1",
        "parent": None,
        "time": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "hypothesis": of.hypothesis,
        "change": of.change,
        "command": f"{of.name}.py",
        "metric": {"name": metric, "split": split, "value": value},
        "decision": "hand in",
        **other,
    }
    with Path("iterations.jsonl").open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(line) + "\n")


def write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2, sort_keys=True) + "\n", encoding="utf-8")
