"""Perplexity in windows of 256 tokens, as agent-eval takes it (defined in README.md)."""

import math
from typing import Any

import numpy as np

from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import Submission, blame

CONTEXT = 256
FIRST = CONTEXT // 2  # tokens 129 to 256 are predicted, except that the second half's first one is only read

Sample = dict[str, Any]


def window_samples(submission: Submission, text: str) -> list[Sample]:
    """A sample for each window: `value` in nats, `weight` in tokens."""
    if submission.context is not None and submission.context < CONTEXT:
        raise Rejected(f"the model reads {submission.context} tokens at once; agent-eval's windows have 256")
    ids = submission.encode(text)
    back = submission.tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)
    if back.split() != text.split():  # some tokenizers join spaces
        raise Rejected("the tokenizer loses text: decoding what it encodes does not give the words back")
    count = len(ids) // CONTEXT
    if count == 0:
        raise Rejected(f"the tokenizer gives {len(ids)} tokens for the whole text, less than one window")
    windows = [ids[at * CONTEXT : (at + 1) * CONTEXT] for at in range(count)]
    return [
        {"id": f"window-{at:05d}", "value": window_nats(submission, window), "weight": CONTEXT - FIRST - 1}
        for at, window in enumerate(windows)
    ]


def window_nats(submission: Submission, window: list[int]) -> float:
    """-ln p of the last 127 tokens. BOS takes the place of the window's first token."""
    import torch

    with torch.inference_mode(), blame("the model fails on text"):
        logits = submission.next_logits([[submission.start_id, *window[1:]]])[0]
        if not torch.isfinite(logits).all():
            raise Rejected("non-finite output")
        logs = torch.log_softmax(logits[FIRST : CONTEXT - 1].double(), dim=-1)
    scored = window[FIRST + 1 :]
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
