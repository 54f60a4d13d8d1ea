"""Writes what is handed in: a Hugging Face model folder with its provenance, and the iteration's line."""

import json
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from safetensors.torch import save_file
from tokenizers import Tokenizer

from model import Gpt2
from text import END


@dataclass(frozen=True)
class Iteration:
    id: str
    hypothesis: str
    change: str
    command: str
    dev_bits_per_byte: float


def hand_in(folder: Path, model: Gpt2, tokenizer: Tokenizer, train_tokens: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    end = tokenizer.token_to_id(END)
    write_json(folder / "config.json", {**model.config, "bos_token_id": end, "eos_token_id": end})
    tensors = {f"transformer.{name}": tensor.contiguous() for name, tensor in model.state_dict().items()}
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
    write_json(
        folder / "provenance.json",
        {
            "formatVersion": 1,
            "base": None,
            "experts": [],
            "data": ["brown-smoke"],
            "tokenizer": "byte-level BPE, trained on the given data",
            "trainTokens": train_tokens,
        },
    )


def append_iteration(path: Path, iteration: Iteration) -> None:
    line = {
        "id": iteration.id,
        "parent": None,
        "time": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "hypothesis": iteration.hypothesis,
        "change": iteration.change,
        "command": iteration.command,
        "metric": {"name": "bits-per-byte", "split": "dev", "value": iteration.dev_bits_per_byte},
        "decision": "hand in",
    }
    with path.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(line) + "\n")


def write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2, sort_keys=True) + "\n", encoding="utf-8")
