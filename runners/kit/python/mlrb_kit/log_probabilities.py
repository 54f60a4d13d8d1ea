"""Refuses models that read ahead, and models with non-finite output.

A likelihood is a product of predictions of each token from the tokens before it. A model that sees the token
that it predicts (bidirectional attention, by architecture or by a setting) would get it free.
"""

from typing import Any

from mlrb_kit.device import device
from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import Submission, blame

ROWS = 4
TOLERANCE_FULL = 1e-3  # nats; equal prefixes of equal shape give equal bits in every model tried
TOLERANCE_HALF = 5e-2  # half precision, where grouped products may round differently


def check_causal(submission: Submission, rows: list[list[int]]) -> None:
    """Changes the text after a prefix and checks that predictions inside the prefix stay the same.

    `rows` are token ids without the start token; the first few are tried, cut at several places.
    """
    import torch

    half = next(submission.model.parameters()).element_size() < 4
    tolerance = TOLERANCE_HALF if half else TOLERANCE_FULL
    for row in [row for row in rows if len(row) >= 2][:ROWS]:
        ids = [submission.start_id, *row][: submission.context]
        before = log_probabilities(submission, ids)
        for cut in sorted({1, len(ids) // 2, len(ids) - 1}):
            changed = [*ids[:cut], *((token + 1) % submission.vocabulary for token in ids[cut:])]
            after = log_probabilities(submission, changed)
            if torch.max(torch.abs(before[:cut] - after[:cut])).item() > tolerance:
                raise Rejected("not causal: predictions change when only the text after them does")


def log_probabilities(submission: Submission, ids: list[int]) -> Any:
    """Log-probabilities in nats, float32, of shape (len(ids), outputs).

    Raises Rejected unless the model's output is finite throughout.
    """
    import torch

    with torch.inference_mode(), blame("the model fails on text"):
        logits = submission.model(input_ids=torch.tensor([ids], device=device())).logits[0].float()
        if not torch.isfinite(logits).all():
            raise Rejected("non-finite output")
        return torch.log_softmax(logits, dim=-1)
