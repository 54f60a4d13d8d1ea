"""One load of a submission as scorers load it, for the load check (mlrb_kit.load_check)."""

import json
import os
from pathlib import Path

from mlrb_kit.load_check import TEXT, OverLimit, return_freed_memory
from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import blame, check_files, load_model, load_tokenizer, sketch_model
from mlrb_kit.tokenizer_growth import tokenizer_growth


def load(folder: Path) -> None:
    """Each part on its own, as some scorers do: a part that is refused hides no other one."""
    return_freed_memory()
    refused = False
    for part in (sketch_model, use_tokenizer):
        try:
            part(folder)
        except Rejected:
            refused = True
    if not refused:
        load_model(folder, check_files(folder))


def use_tokenizer(folder: Path) -> None:
    path = folder / "tokenizer.json"
    if path.is_file():
        with blame("tokenizer.json cannot be read"):
            problem = tokenizer_growth(json.loads(path.read_text(encoding="utf-8")))
        if problem is not None:
            raise OverLimit(f"tokenizer.json: {problem}")
    tokenizer, _ = load_tokenizer(folder)
    with blame("the tokenizer fails on text"):
        tokenizer.encode(TEXT)


def import_libraries() -> None:
    """Once, in this process: the time of an import is no time of a load."""
    os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", TRANSFORMERS_VERBOSITY="error")
    import torch
    from transformers import (  # noqa: F401
        AutoConfig,
        AutoModelForCausalLM,
        AutoModelForSeq2SeqLM,
        AutoTokenizer,
    )

    torch.set_num_threads(1)
