"""Perplexity in windows of 256 tokens, as agent-eval takes it (defined in README.md)."""

import math
from typing import Any

import numpy as np

from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import Submission, blame
from scorer_library.wikitext import SCORED_FROM, WINDOW, token_windows

Sample = dict[str, Any]


def window_samples(submission: Submission, ids: list[int]) -> list[Sample]:
    """A sample for each window of the text's `ids`: `value` in nats, `weight` in tokens."""
    return [
        {"id": f"window-{at:05d}", "value": window_nats(submission, window), "weight": WINDOW - SCORED_FROM}
        for at, window in enumerate(token_windows(submission, ids))
    ]


def window_nats(submission: Submission, window: list[int]) -> float:
    """-ln p of the last 127 tokens."""
    import torch

    with torch.inference_mode(), blame("the model fails on text"):
        logits = submission.next_logits([window])[0]
        if not torch.isfinite(logits).all():
            raise Rejected("non-finite output")
        logs = torch.log_softmax(logits[SCORED_FROM - 1 : WINDOW - 1].double(), dim=-1)
    scored = window[SCORED_FROM:]
    if max(scored) >= logs.shape[1]:
        raise Rejected(f"the tokenizer gives ids of {max(scored)}; the model predicts {logs.shape[1]}")
    return -math.fsum(logs[range(len(scored)), scored].tolist())


def perplexity_of(mean_nats: float) -> float:
    """Raises Rejected where it is too large for a number."""
    try:
        return math.exp(mean_nats)
    except OverflowError as error:
        raise Rejected(f"the perplexity is e to the {mean_nats:.0f}, too large for a number") from error


def running_mean(samples: list[Sample]) -> float:
    """What agent-eval prints as the average: the mean over windows of the perplexity up to each window."""
    nats = np.cumsum([sample["value"] for sample in samples])
    tokens = np.cumsum([sample["weight"] for sample in samples])
    return math.fsum(perplexity_of(mean) for mean in (nats / tokens).tolist()) / len(samples)
