"""Measures a model on the development questions, in the words in which the test asks."""

import json
import time
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from library.llama import Llama


@torch.inference_mode()
def accuracies(
    model: Llama, tokenizer: Tokenizer, questions: Path, stop_at: float
) -> dict[str, float] | None:
    """The share of right answers in each domain; None when the clock has reached `stop_at`.

    Answers are told apart by their first tokens.
    """
    if time.time() > stop_at:
        return None
    rows = [json.loads(line) for line in questions.read_text(encoding="utf-8").splitlines()]
    asked = [tokenizer.encode(text_of(row), add_special_tokens=False).ids for row in rows]
    hits: dict[str, list[bool]] = {}
    for row, logits in zip(rows, model.next_logits(asked).cpu(), strict=True):
        firsts = [
            tokenizer.encode(f" {choice}", add_special_tokens=False).ids[0] for choice in row["choices"]
        ]
        hits.setdefault(row["subject"], []).append(int(logits[firsts].argmax()) == row["answer"])
    return {subject: sum(found) / len(found) for subject, found in sorted(hits.items())}


def text_of(row: dict[str, Any]) -> str:
    before = f"The following are questions (with answers) about {row['subject']}.\n\n"
    return f"{before}Question: {row['question']}\nAnswer:"
