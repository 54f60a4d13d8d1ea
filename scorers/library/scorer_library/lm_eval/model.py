"""lm-eval's own model class for a submission, with checks of what lm-eval assumes.

Import it after the environment is set (lm_eval.data.local_hub), since lm_eval reads variables on import.
"""

from typing import Any, Literal

from lm_eval.models.huggingface import HFLM

from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import Submission, blame
from scorer_library.kept_text import check_kept
from scorer_library.lm_eval.memory import BATCH_BYTES

BATCH = 32
SOFTMAX = "float32"  # by default the model's own: sums in BF16 are rounded to 1 nat at 200, and tie

Request = tuple[tuple[str, str], list[int], list[int]]  # context and answer as text, then as ids


class GuardedLM(HFLM):
    """Raises Rejected for failures of the submission. Other exceptions are failures of the scorer."""

    def __init__(self, submission: Submission) -> None:
        with blame("lm-eval cannot use the model"):
            super().__init__(
                pretrained=submission.model,
                tokenizer=submission.tokenizer,
                batch_size=BATCH,
                backend=backend_of(submission),
                softmax_dtype=SOFTMAX,
            )
        if self.prefix_token_id != submission.start_id:
            raise Rejected("lm-eval starts texts with another token than BOS or EOS")
        self.submission = submission
        if submission.context is not None and submission.context < self.max_length:
            self._max_length = submission.context  # lm-eval would give a RoBERTa positions that it lacks
        self.truncated = 0  # requests whose context was cut at the start to fit the model

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        for request in requests:
            context, answer = request.args
            if not context and not self.tok_ids(answer):  # lm-eval would index an empty list
                raise Rejected("the tokenizer has no tokens for some of the text")
        with blame("lm-eval fails on the model"):
            return super().loglikelihood(requests, disable_tqdm)

    def tok_ids(self, text: str) -> list[int]:
        with blame("the tokenizer fails on text"):
            return self.tok_encode(text, add_special_tokens=False)

    def _loglikelihood_tokens(
        self, requests: list[Request], disable_tqdm: bool = False, override_bs: int | None = None
    ) -> list[tuple[float, bool]]:
        self.check_tokens(requests)
        # lm-eval encodes a context alone too, and cuts both together by its length
        given = (text for (context, answer), _, _ in requests for text in (context, answer, context + answer))
        check_kept(self.submission, given)
        self.batch_size_per_gpu = self.batch_size_of(requests)
        return super()._loglikelihood_tokens(requests, disable_tqdm, override_bs)

    def batch_size_of(self, requests: list[Request]) -> int:
        """Depends on the inputs only, never on free memory.

        Batches of other shapes round differently, so every machine scores a submission in the same ones.
        """
        both = not self.submission.encoder_decoder  # a decoder predicts the answer's tokens only
        longest = max(both * len(context) + len(ids) for _, context, ids in requests)
        size = next(self.submission.model.parameters()).element_size()
        mean = (size + 4) // 2  # of a logit and its log-softmax
        return batch_size(min(longest, self.max_length) * self.submission.vocabulary * mean)

    def check_tokens(self, requests: list[Request]) -> None:
        vocabulary = self.submission.vocabulary
        for _, context, ids in requests:
            if not context or not ids:
                raise Rejected("the tokenizer has no tokens for some of the text")
            if not 0 <= min(*context, *ids) <= max(*context, *ids) < vocabulary:
                highest = max(*context, *ids)
                raise Rejected(f"the tokenizer gives ids of {highest}; the model has {vocabulary} embeddings")
            if len(ids) > self.max_length:
                raise Rejected(f"an answer has {len(ids)} tokens; the model reads {self.max_length}")
            read = len(context) if self.submission.encoder_decoder else len(context) + len(ids) - 1
            self.truncated += read > self.max_length


def backend_of(submission: Submission) -> Literal["causal", "seq2seq"]:
    """lm-eval's name for the kind of a model. lm-eval gives the context to an encoder, if there is one."""
    return "seq2seq" if submission.encoder_decoder else "causal"


def batch_size(text_bytes: int) -> int:
    """The number of texts in a batch; each needs `text_bytes` for logits and as many for the log-softmax."""
    return max(1, min(BATCH, BATCH_BYTES // (2 * text_bytes)))
