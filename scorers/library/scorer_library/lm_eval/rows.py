"""The rows that lm-eval gives a model for the requests of one run: its tokens, its cuts and its padding.

The model is not run. Import it after the environment is set, like scorer_library.lm_eval.model.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from lm_eval.models.utils import Collator

from mlrb_kit.submission import Submission
from scorer_library.lm_eval.model import GuardedLM, Request


@dataclass(frozen=True)
class Row:
    """The model reads ids[:-1], then padding up to `width` tokens. The last `answer` ids are predicted.

    The encoder of an encoder-decoder reads `given`, and the decoder its start token in place of ids[0].
    """

    ids: "array[int]"
    answer: int
    width: int
    given: "array[int] | None" = None


class RowsLM(GuardedLM):
    """Keeps the requests that lm-eval would give the model."""

    def __init__(self, submission: Submission) -> None:
        super().__init__(submission)
        self.requests: list[Request] = []

    def _loglikelihood_tokens(
        self, requests: list[Request], disable_tqdm: bool = False, override_bs: int | None = None
    ) -> list[tuple[float, bool]]:
        self.check_tokens(requests)
        self.requests = requests
        return [(0.0, False)] * len(requests)

    def rows(self, pairs: Sequence[tuple[str, str]], batch: int | None = None) -> list[Row]:
        """One row for each (context, answer). `batch`: of a scorer with batches of a fixed size."""
        found: list[Any] = [SimpleNamespace(args=pair) for pair in pairs]
        self.loglikelihood(found, disable_tqdm=True)
        widths = self.widths(batch or self.batch_size_of(self.requests))
        row = self.decoder_row if self.submission.encoder_decoder else self.row
        return [row(request, widths[self.read(request)]) for request in self.requests]

    def row(self, request: Request, width: int) -> Row:
        _, context, answer = request
        return Row(array("i", self.cut(context + answer)), len(answer), width)

    def decoder_row(self, request: Request, width: int) -> Row:
        _, context, answer = request
        ids = array("i", (self.submission.start_id, *answer))
        return Row(ids, len(answer), width, array("i", context[-self.max_length :]))

    def widths(self, batch: int) -> dict[tuple[int, ...], int]:
        """The tokens of each row with its padding, by what the model reads.

        lm-eval sorts requests by length and pads each batch to its longest row. Requests that read the same
        share a row, unless the model has an encoder.
        """
        group_by = None if self.submission.encoder_decoder else "contexts"
        ordered = Collator(self.requests, sort_fn=order, group_by=group_by, group_fn=self.read)
        found: dict[tuple[int, ...], int] = {}
        for chunk in ordered.get_batched(n=batch):
            width = max(self.length(request) for request in chunk)
            for request in chunk:
                found[self.read(request)] = width
        return found

    def read(self, request: Request) -> tuple[int, ...]:
        _, context, answer = request
        return tuple(context + (answer if self.submission.encoder_decoder else answer[:-1]))

    def length(self, request: Request) -> int:
        """Tokens of a row without padding."""
        if self.submission.encoder_decoder:
            return len(request[2])
        return min(len(self.read(request)), self.max_length)

    def cut(self, ids: list[int]) -> list[int]:
        """Without the beginning that does not fit the model; the last token is not read."""
        return ids[-(self.max_length + 1) :]


def order(request: Request) -> tuple[int, tuple[int, ...]]:
    ids = request[1] + request[2]
    return -len(ids), tuple(ids)
