"""What a model predicts for each next token. Refuses models with non-finite output."""

from typing import Any

from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import Submission, blame


def log_probabilities(submission: Submission, ids: list[int]) -> Any:
    """Log-probabilities in nats, float32, of shape (len(ids), outputs). `ids` begin with the start token.

    Raises Rejected unless the model's output is finite throughout.
    """
    import torch

    with torch.inference_mode(), blame("the model fails on text"):
        logits = submission.next_logits([ids])[0].float()
        if not torch.isfinite(logits).all():
            raise Rejected("non-finite output")
        return torch.log_softmax(logits, dim=-1)
