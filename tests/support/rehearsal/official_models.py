"""Tiny random models of the architectures of official models, each with a tokenizer.

By hand: official_models.py FOLDER NAME…
"""

import sys
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[3]
sys.path += [
    str(REPOSITORY / path) for path in ("runners/kit/python", "scorers/library", "scorers/library/tests")
]

from causal_models import config_of, repository_texts, tokenizer_of  # noqa: E402

SMALL: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "max_position_embeddings": 2304,  # a memory rule reads 2 000 tokens
}
TYPES = (("phi", "phi"), ("pythia", "gpt_neox"), ("mistral", "mistral"), ("opt", "opt"), ("gpt2", "gpt2"))


def main(folder: Path, names: list[str]) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    tokenizer = tokenizer_of(repository_texts())
    for at, name in enumerate(names):
        kind = next((kind for part, kind in TYPES if part in name), "llama")
        known = config_of(kind, {})
        sizes = {key: value for key, value in SMALL.items() if hasattr(known, key)}
        torch.manual_seed(at)
        config = config_of(kind, {**sizes, "vocab_size": len(tokenizer)})
        AutoModelForCausalLM.from_config(config).to(torch.float16).save_pretrained(folder / name)
        tokenizer.save_pretrained(folder / name)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
