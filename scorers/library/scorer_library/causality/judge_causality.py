"""Decides whether a submission reads the text that it predicts, from cuts at random places."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import Submission
from scorer_library.causality.draw_cuts import FOUND_WITH, Drawing, draw_cuts
from scorer_library.causality.encode_texts import encode_text, places_of
from scorer_library.causality.gain import Gain, gains
from scorer_library.causality.scored_texts import ScoredText

CONFIRMING = 4  # other replacements of a cut that shows a gain; their median decides
TRIES = 20  # to find text that begins with another token


# nats that rounding may give one cut: at least three times what honest models of a dtype show
# (tests/test_causality_rates.py)
TOLERANCES = {"float32": 1e-3, "float16": 2e-2, "bfloat16": 1e-1}


@dataclass
class Cut:
    text: int
    source: str
    sequence: int
    place: int
    gain: Gain
    confirmed: list[float] = field(default_factory=list)  # gains over other replacements

    def value(self) -> float:
        return median(self.confirmed) if self.confirmed else self.gain.largest


@dataclass(frozen=True)
class Found:
    cuts: list[Cut]
    drawing: Drawing
    dtype: str
    vocabulary: int

    @property
    def tolerance(self) -> float:
        return TOLERANCES[self.dtype]

    @property
    def mean_tolerance(self) -> float:
        """Of the mean over cuts: rounding errors of many cuts cancel out."""
        return self.tolerance / math.sqrt(max(1, len(self.cuts)))

    def leaking(self) -> list[Cut]:
        return [cut for cut in self.cuts if cut.value() > self.tolerance]

    def mean(self) -> float:
        """Nats of each predicted token that the text after it gives."""
        return math.fsum(cut.gain.token for cut in self.cuts) / max(1, len(self.cuts))

    def looks_ahead(self) -> bool:
        return bool(self.leaking()) or self.mean() > self.mean_tolerance


def measure_look_ahead(
    submission: Submission, texts: Sequence[ScoredText], seed: bytes, cuts_max: float = math.inf
) -> Found:
    """At `cuts_max` places at most. Raises Rejected where the submission fails on its own texts."""
    rng = random.Random(seed)
    counts = [len(places_of(encode_text(submission, text))) for text in texts]
    drawing = draw_cuts(counts, rng, cuts_max)
    chosen: dict[int, set[int]] = {}
    for draw in drawing.draws:
        chosen.setdefault(draw.text, set()).add(draw.place)
    encoded = {at: encode_text(submission, texts[at]) for at in sorted(chosen)}
    donors = Donors({at: [token for one in found for token in one.ids[1:]] for at, found in encoded.items()})
    cuts: list[Cut] = []
    for at, sequences in encoded.items():
        all_places = places_of(sequences)
        if len(all_places) != counts[at]:
            raise Rejected("the tokenizer encodes the same text in different ways")
        places = [all_places[number] for number in sorted(chosen[at])]
        for sequence in sorted({sequence for sequence, _ in places}):
            ids = sequences[sequence].ids
            here = [place for among, place in places if among == sequence]
            replaced = [(place, donors.tokens(ids, place, other=at, rng=rng)) for place in here]
            for place, gain in zip(here, gains(submission, ids, replaced), strict=True):
                cuts.append(Cut(at, texts[at].source, sequence, place, gain))
    dtype = str(next(submission.model.parameters()).dtype).removeprefix("torch.")
    found = Found(cuts, drawing, dtype, submission.vocabulary)
    for cut in found.leaking():
        ids = encoded[cut.text][cut.sequence].ids
        others = [donors.tokens(ids, cut.place, other=cut.text, rng=rng) for _ in range(CONFIRMING)]
        again = gains(submission, ids, [(cut.place, tokens) for tokens in others])
        cut.confirmed = [gain.largest for gain in again]
    return found


class Donors:
    """Text that replaces other text: runs of tokens of other scored texts, so that both are natural."""

    def __init__(self, encoded: dict[int, list[int]]) -> None:
        self.encoded = {at: ids for at, ids in encoded.items() if ids}

    def tokens(self, ids: Sequence[int], cut: int, *, other: int, rng: random.Random) -> list[int]:
        """As many tokens as ids[cut:-1] has, not from text `other`; the first differs from ids[cut]."""
        count = len(ids) - 1 - cut
        others = [at for at in self.encoded if at != other] or list(self.encoded)
        found: list[int] = []
        for at in rng.choices(others, k=TRIES):
            run = self.encoded[at]
            start = rng.randrange(len(run))
            if run[start] != ids[cut]:
                found = run[start : start + count]
                break
        else:  # almost all text is one token
            found = [0 if ids[cut] != 0 else 1]
        while len(found) < count:
            found += self.encoded[rng.choice(others)][: count - len(found)]
        return found


def described(found: Found) -> dict[str, Any]:
    """`measured` of causality.json."""
    texts, places = found.drawing.hidden_texts(), found.drawing.hidden_places()
    return {
        "dtype": found.dtype,
        "tolerance": {"cut": found.tolerance, "mean": found.mean_tolerance},
        "texts": len({cut.text for cut in found.cuts}),
        "leakingTexts": len({cut.text for cut in found.leaking()}),
        "largestGain": max((cut.value() for cut in found.cuts), default=0.0),
        "meanGain": found.mean(),
        "mayHide": {
            "foundWith": FOUND_WITH,
            "texts": texts,
            "tokens": places,
            "natsPerToken": places * math.log(found.vocabulary) + found.mean_tolerance if found.cuts else 0.0,
        },
        "cuts": [
            {
                "text": cut.source,
                "sequence": cut.sequence,
                "token": cut.place,
                "gain": cut.gain.largest,
                "confirmed": cut.confirmed,
            }
            for cut in found.cuts
        ],
    }


def detail_of(found: Found) -> str:
    """The result in words. Of a causal submission the words are the same on every machine."""
    if not found.cuts:
        return "no token that the model predicts is part of its input, so a leak cannot help it"
    if not found.looks_ahead():
        return (
            "the text after a token does not help to predict it; "
            f"a leak in {found.drawing.hidden_texts():.1%} of the texts "
            f"or at {found.drawing.hidden_places():.1%} of the tokens would be found with 99 %"
        )
    texts = len({cut.text for cut in found.cuts})
    leaking = len({cut.text for cut in found.leaking()})
    return (
        f"the text after a token helps to predict it, by {found.mean():.2g} nats a token: "
        f"found in {leaking} of {texts} texts that were cut at random places"
    )
