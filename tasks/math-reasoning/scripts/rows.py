"""Reads the data, makes each item a row of tokens (END, the prompt, the formal proof, END), draws rows."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import torch
from tokenizers import Tokenizer

from library.batches import UNSCORED, Batch
from library.bpe import END

TEMPLATE = "{{informal_statement}}\n"  # it tells all; its proof would only be more to read


@dataclass(frozen=True)
class Row:
    ids: list[int]
    prompt: int  # how many of them are given; the rest is to be written


def read_items(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def prompt_of(item: dict[str, str]) -> str:
    return TEMPLATE.replace("{{informal_statement}}", item["informal_statement"])


def make_rows(tokenizer: Tokenizer, items: list[dict[str, str]]) -> list[Row]:
    end = tokenizer.token_to_id(END)
    rows = []
    for item in items:
        prompt = [end, *tokenizer.encode(prompt_of(item)).ids]
        rows.append(Row([*prompt, *tokenizer.encode(item["formal_proof"]).ids, end], len(prompt)))
    return rows


def batch_of(rows: list[Row], *, formal_only: bool) -> Batch:
    """Inputs and targets, as long as the longest row. No target stands where a row has ended and, with
    `formal_only`, where the prompt is not over."""
    longest = max(len(row.ids) for row in rows)
    inputs = torch.zeros(len(rows), longest - 1, dtype=torch.long)
    targets = torch.full_like(inputs, UNSCORED)
    for at, row in enumerate(rows):
        ids = torch.tensor(row.ids)
        first = row.prompt - 1 if formal_only else 0
        inputs[at, : len(ids) - 1] = ids[:-1]
        targets[at, first : len(ids) - 1] = ids[1 + first :]
    return inputs, targets


@dataclass
class Draw:
    """Every row once, in an order of chance, then every row again."""

    rows: list[Row]
    size: int  # rows of a batch
    formal_only: bool
    tokens: int = 0  # read so far, the prompts' among them
    waiting: list[int] = field(default_factory=list)

    def __call__(self) -> Batch:
        if len(self.waiting) < self.size:
            self.waiting += torch.randperm(len(self.rows)).tolist()
        chosen = [self.rows[at] for at in self.waiting[: self.size]]
        del self.waiting[: self.size]
        self.tokens += sum(len(row.ids) - 1 for row in chosen)
        return batch_of(chosen, formal_only=self.formal_only)
