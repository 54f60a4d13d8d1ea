"""Measures a model on the development questions, in the words in which the test asks."""

import json
import time
from pathlib import Path
from typing import Any

import torch

from library.device import device
from library.given_model import given_model, given_tokenizer


def accuracies(folder: Path, questions: Path, stop_at: float) -> dict[str, float] | None:
    """The share of right answers in each domain; None when the clock reaches `stop_at` before the end.

    Answers are told apart by their first tokens.
    """
    if time.time() > stop_at:
        return None
    tokenizer = given_tokenizer(folder)
    model = given_model(folder)
    hits: dict[str, list[bool]] = {}
    for line in questions.read_text(encoding="utf-8").splitlines():
        if time.time() > stop_at:
            return None
        row = json.loads(line)
        hits.setdefault(row["subject"], []).append(chosen(model, tokenizer, row) == row["answer"])
    return {subject: sum(found) / len(found) for subject, found in sorted(hits.items())}


@torch.inference_mode()
def chosen(model: Any, tokenizer: Any, row: dict[str, Any]) -> int:
    """The place of the answer that the model finds likeliest."""
    before = f"The following are questions (with answers) about {row['subject']}.\n\n"
    text = f"{before}Question: {row['question']}\nAnswer:"
    ids = tokenizer(text, add_special_tokens=False, return_tensors="pt").input_ids
    logits = model(ids.to(device()), use_cache=False, logits_to_keep=1).logits[0, -1].cpu()
    firsts = [tokenizer(f" {choice}", add_special_tokens=False).input_ids[0] for choice in row["choices"]]
    return int(logits[firsts].argmax())
