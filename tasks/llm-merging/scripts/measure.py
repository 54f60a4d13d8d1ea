"""Measures a model on the development questions, in the words in which the test asks."""

import json
import time
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from library.device import device
from library.llama import Llama


def accuracies(
    model: Llama, tokenizer: Tokenizer, questions: Path, stop_at: float
) -> dict[str, float] | None:
    """The share of right answers in each domain; None when the clock reaches `stop_at` before the end.

    Answers are told apart by their first tokens.
    """
    hits: dict[str, list[bool]] = {}
    for line in questions.read_text(encoding="utf-8").splitlines():
        if time.time() > stop_at:
            return None
        row = json.loads(line)
        hits.setdefault(row["subject"], []).append(chosen(model, tokenizer, row) == row["answer"])
    return {subject: sum(found) / len(found) for subject, found in sorted(hits.items())}


@torch.inference_mode()
def chosen(model: Llama, tokenizer: Tokenizer, row: dict[str, Any]) -> int:
    """The place of the answer that the model finds likeliest."""
    before = f"The following are questions (with answers) about {row['subject']}.\n\n"
    text = f"{before}Question: {row['question']}\nAnswer:"
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    logits = model.logits(model.model(torch.tensor([ids], device=device()))[0, -1]).cpu()
    firsts = [tokenizer.encode(f" {choice}", add_special_tokens=False).ids[0] for choice in row["choices"]]
    return int(logits[firsts].argmax())
