"""Encodes scored texts as their scorers do: the token sequences of which a model reads all but the last."""

from array import array
from collections.abc import Sequence as Many
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from mlrb_kit.submission import Submission
from scorer_library.causality.scored_texts import WIKITEXT, ScoredText
from scorer_library.wikitext import SCORED_FROM, WINDOW, encode_wikitext, token_windows

if TYPE_CHECKING:
    from scorer_library.lm_eval.rows import Row, RowsLM

PAD = 0  # lm-eval pads rows with it at their end, and gives no mask

# of a scorer whose batches have a fixed size; scorers that run lm-eval's own tasks compute theirs
BATCHES = {"sentence-pairs": 32}


@dataclass(frozen=True)
class Sequence:
    """The model reads ids[:-1], padded to `width` tokens. It predicts each id from `scored_from` on.

    The encoder of an encoder-decoder reads `given`, or ids[0] if that is None. Its decoder reads its own
    start token in place of ids[0].
    """

    ids: "array[int]"
    scored_from: int
    width: int
    given: "array[int] | None" = None
    padded: bool = False  # the last id is padding, which depends on the other rows of a batch

    def text(self) -> tuple[Many[int], Many[int] | None]:
        """The ids that the tokenizer gave, which are the same each time."""
        return self.ids[:-1] if self.padded else self.ids, self.given

    def cuts(self) -> range:
        """Places of tokens that are both in the input and predicted."""
        return range(self.scored_from, len(self.ids) - 1)


class Encoder:
    """Encodes texts for one submission."""

    def __init__(self, submission: Submission) -> None:
        self.submission = submission

    def encode(self, texts: Many[ScoredText]) -> list[list[Sequence]]:
        """The sequences of each text. Give all texts of a run: its batches decide the padding.

        Raises Rejected where the submission's tokenizer fails.
        """
        found: list[list[Sequence]] = [[] for _ in texts]
        runs: dict[tuple[str, str], list[int]] = {}
        for at, text in enumerate(texts):
            if text.kind == WIKITEXT:
                found[at] = self.windows(text)
            elif text.run is None:
                found[at] = self.alone(text)
            else:
                runs.setdefault((text.kind, text.run), []).append(at)
        for (kind, _), members in runs.items():
            pairs = [(texts[at].context, texts[at].scored) for at in members]
            for at, row in zip(members, self.lm.rows(pairs, BATCHES.get(kind)), strict=True):
                found[at] = [sequence_of(row)]
        return found

    @cached_property
    def lm(self) -> "RowsLM":
        from scorer_library.lm_eval.rows import RowsLM  # late: bits per byte needs no lm-eval

        return RowsLM(self.submission)

    def alone(self, text: ScoredText) -> list[Sequence]:
        """In pieces of what the model reads at once, each from the start token."""
        ids = self.submission.tokens(text.scored)  # each scorer has its own rule for unknown words
        reach = self.submission.context or len(ids) or 1
        pieces = [ids[start : start + reach] for start in range(0, len(ids), reach)]
        start_id = self.submission.start_id
        return [Sequence(array("i", (start_id, *piece)), 1, len(piece)) for piece in pieces]

    def windows(self, text: ScoredText) -> list[Sequence]:
        """As agent-eval feeds them. The model reads the last token too: PAD after it is not read."""
        ids = encode_wikitext(self.submission, text.scored)
        return [
            Sequence(array("i", (*window, PAD)), SCORED_FROM, WINDOW)
            for window in token_windows(self.submission, ids)
        ]


def sequence_of(row: "Row") -> Sequence:
    """A padded decoder also reads the last token, so that one is an input too: padding comes after it."""
    scored_from = len(row.ids) - row.answer
    padded = row.given is not None and row.width > row.answer
    ids = array("i", (*row.ids, PAD)) if padded else row.ids
    return Sequence(ids, scored_from, row.width, row.given, padded)


def places_of(sequences: list[Sequence]) -> list[tuple[int, int]]:
    """The places of a text: the number of a sequence, and a place in it."""
    return [(at, cut) for at, one in enumerate(sequences) for cut in one.cuts()]
