"""Loads a model that the task gives, and its tokenizer."""

import sys
from pathlib import Path
from typing import Any

import torch

from library.device import device


def given_model(folder: Path) -> Any:
    """A transformers.PreTrainedModel in F32, whatever it is stored in: that holds every value exactly, small
    steps are lost between the numbers that BF16 knows, and half precision is slow on most CPUs."""
    quick()
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, local_files_only=True)
    return model.to(device())


def given_tokenizer(folder: Path) -> Any:
    """A transformers.PreTrainedTokenizerFast."""
    quick()
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder, local_files_only=True)


def quick() -> None:
    """transformers would import scikit-learn, a second of every start, for a way to write not used here."""
    sys.modules.setdefault("sklearn", None)  # type: ignore[arg-type]
