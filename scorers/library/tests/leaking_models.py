"""Models that read the tokens that they predict, at chosen places, for tests."""

import random
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

import torch
from causal_models import brown_texts, tokenizer_of

from mlrb_kit.submission import Submission
from scorer_library.causality.judge_causality import Found, measure_look_ahead
from scorer_library.causality.scored_texts import ScoredText

TEXTS = brown_texts()  # the rates below are of these texts
TOKENIZER = tokenizer_of(TEXTS)
SCORED = [ScoredText(f"documents/{at}", "", text) for at, text in enumerate(TEXTS)]

# of a row of input ids and a place: nats that the model gives the next token, which it reads
Leak = Callable[[list[int], int], float]


class Leaking(torch.nn.Module):
    """Predicts all tokens alike, except where it reads the next one."""

    def __init__(self, leak: Leak) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.leak = leak
        self.device = torch.device("cpu")
        self.config = SimpleNamespace(model_type="leaking")

    def tie_weights(self) -> None:
        """lm-eval calls it."""

    def forward(self, input_ids: Any) -> Any:
        logits = torch.zeros(*input_ids.shape, len(TOKENIZER))
        for row, ids in enumerate(input_ids.tolist()):
            for at in range(len(ids) - 1):
                logits[row, at, ids[at + 1]] += self.leak(ids, at)
        return SimpleNamespace(logits=logits)


def tested(leak: Leak, seed: int = 0, texts: list[ScoredText] = SCORED, tokenizer: Any = TOKENIZER) -> Found:
    submission = Submission(Leaking(leak), tokenizer, tokenizer.bos_token_id, len(tokenizer), None)
    return measure_look_ahead(submission, texts, bytes([seed]) * 32)


def share(ids: list[int], at: int = 0) -> float:
    """A number in [0, 1) that a text, or a place in it, always has."""
    return number_of(tuple(ids[1:4]), at)


@cache
def number_of(start: tuple[int, ...], at: int) -> float:
    return random.Random(f"{list(start)} {at}").random()
