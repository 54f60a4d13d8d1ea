"""The gain that a text's true continuation gives to the tokens before it.

A likelihood is a product of predictions of each token from the tokens before it. From a cut on, the input is
replaced by other text of the same length, so the model cannot know the token at the cut. What the true input
gains over the replaced one is what the model reads from the text that it predicts. Whether a model recognises
replaced text does not matter: it then predicts the cut's token without knowing it, and the gain shows.
"""

from collections.abc import Sequence as Many
from dataclasses import dataclass
from typing import Any

from mlrb_kit.device import device
from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import Submission, blame
from scorer_library.causality.encode_texts import PAD, Sequence


@dataclass(frozen=True)
class Gain:
    """In nats: of the token at the cut, and of all predicted tokens up to it."""

    token: float
    prefix: float

    @property
    def largest(self) -> float:
        """Larger than the sum where the model predicts earlier tokens worse to hide what it reads."""
        return max(self.token, self.prefix)


def gains(submission: Submission, one: Sequence, replaced: Many[tuple[int, Many[int]]]) -> list[Gain]:
    """One gain for each (cut, tokens that replace ids[cut:-1] of the sequence).

    Raises Rejected where the model fails or its output is not finite.
    """
    read = list(one.ids[:-1])
    rows = [read, *([*read[:cut], *tokens] for cut, tokens in replaced)]
    found = likelihoods(submission, rows, one)
    gained = found[0] - found[1:]
    return [
        Gain(gained[at, cut - 1].item(), gained[at, :cut].sum().item())
        for at, (cut, _) in enumerate(replaced)
    ]


def likelihoods(submission: Submission, rows: list[list[int]], one: Sequence) -> Any:
    """Log-likelihoods in nats of ids[1:] after each row's inputs, float64, of shape (rows, len(ids) - 1).

    Each row is read alone, since types with a capacity of experts (NLLB-MoE) let rows of a batch interact.
    """
    import torch

    ids = list(one.ids)
    target = torch.tensor(ids[1:], device=device())
    padding = [PAD] * (one.width - len(ids) + 1)
    given = None if one.given is None else list(one.given)
    found = []
    with torch.inference_mode(), blame("the model fails on text"):
        for row in rows:
            logits = submission.next_logits([row + padding], given)[0, : len(ids) - 1].float()
            if not torch.isfinite(logits).all():
                raise Rejected("non-finite output")
            if max(ids) >= logits.shape[-1]:
                raise Rejected(
                    f"the tokenizer gives ids of {max(ids)}; the model predicts {logits.shape[-1]}"
                )
            logs = torch.log_softmax(logits, dim=-1)
            found.append(logs.gather(-1, target.unsqueeze(-1)).squeeze(-1))
    return torch.stack(found).double()
