"""Encodes a scored text as the scorers do: the token sequences of which a model reads all but the last."""

from dataclasses import dataclass

from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import Submission, loaded
from scorer_library.causality.scored_texts import ScoredText

UNLIMITED = 2048  # tokens of a text that are read where the model has no limit, as lm-eval does


@dataclass(frozen=True)
class Sequence:
    """The model reads ids[:-1] and predicts each token from `scored_from` on."""

    ids: tuple[int, ...]
    scored_from: int

    def cuts(self) -> range:
        """Places of tokens that are both in the input and predicted."""
        return range(self.scored_from, len(self.ids) - 1)


def encode_text(submission: Submission, text: ScoredText) -> list[Sequence]:
    """The sequences of one text; a text without context that is longer than the model reads gives several."""
    reach = submission.context or UNLIMITED
    if not text.context:
        ids = encode(submission, text.scored)
        pieces = [ids[start : start + reach] for start in range(0, len(ids), reach)]
        return [Sequence((submission.start_id, *piece), 1) for piece in pieces]
    # lm-eval scores a trailing space of the context with the answer, and cuts long contexts at the start
    context = text.context.rstrip()
    given = len(encode(submission, context)) if context else 0
    ids = encode(submission, text.context + text.scored)
    lost = max(0, len(ids) - reach - 1)
    return [Sequence(tuple(ids[lost:]), max(1, given - lost))]


def encode(submission: Submission, text: str) -> list[int]:
    """Unknown words are allowed, since each scorer has its own rule for them."""
    ids = loaded(
        "the tokenizer fails on text", lambda: submission.tokenizer.encode(text, add_special_tokens=False)
    )
    if ids and not 0 <= min(ids) <= max(ids) < submission.vocabulary:
        raise Rejected(
            f"the tokenizer gives ids of {max(ids)}; the model has {submission.vocabulary} embeddings"
        )
    return ids


def places_of(sequences: list[Sequence]) -> list[tuple[int, int]]:
    """The places of a text: the number of a sequence, and a place in it."""
    return [(at, cut) for at, one in enumerate(sequences) for cut in one.cuts()]
