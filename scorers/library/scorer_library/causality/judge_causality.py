"""Decides whether a submission reads the text that it predicts, from cuts at random places."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from mlrb_kit.submission import Submission
from scorer_library.causality.draw_cuts import CUTS, FOUND_WITH, Draw, draw_cuts, share_found
from scorer_library.causality.encode_texts import cut_of, encode_text
from scorer_library.causality.gain import Gain, gains
from scorer_library.causality.scored_texts import ScoredText

CONFIRMING = 4  # other replacements of a cut that shows a gain; their median decides
TRIES = 20  # to find text that begins with another token


# nats that rounding may give one cut: at least three times what honest models of a dtype show
# (tests/calibration.thorough.test.ts)
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
    drawn: tuple[int, int]  # draws spread over texts, and over tokens
    all_texts: int
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

    def hidden_texts(self) -> float:
        """The largest share of leaking texts that the cuts may miss: none where every text was cut."""
        return 0.0 if self.drawn[0] >= self.all_texts else share_found(self.drawn[0])

    def hidden_tokens(self) -> float:
        return share_found(self.drawn[1])

    def looks_ahead(self) -> bool:
        return bool(self.leaking()) or self.mean() > self.mean_tolerance


def measure_look_ahead(
    submission: Submission, texts: Sequence[ScoredText], seed: bytes, cuts_max: int = CUTS
) -> Found:
    """At `cuts_max` places at most. Raises Rejected where the submission fails on its own texts."""
    rng = random.Random(seed)
    draws = draw_cuts(texts, rng, cuts_max)
    by_text: dict[int, list[Draw]] = {}
    for draw in draws:
        by_text.setdefault(draw.text, []).append(draw)
    encoded = {at: encode_text(submission, texts[at]) for at in by_text}
    donors = Donors({at: [token for one in found for token in one.ids[1:]] for at, found in encoded.items()})
    cuts: list[Cut] = []
    for at, drawn in by_text.items():
        sequences = encoded[at]
        places = sorted({place for draw in drawn if (place := cut_of(sequences, draw)) is not None})
        for sequence in sorted({sequence for sequence, _ in places}):
            ids = sequences[sequence].ids
            here = [place for among, place in places if among == sequence]
            replaced = [(place, donors.tokens(ids, place, other=at, rng=rng)) for place in here]
            for place, gain in zip(here, gains(submission, ids, replaced), strict=True):
                cuts.append(Cut(at, texts[at].source, sequence, place, gain))
    dtype = str(next(submission.model.parameters()).dtype).removeprefix("torch.")
    among_texts = sum(draw.scored for draw in draws)
    drawn = (among_texts, len(draws) - among_texts)
    found = Found(cuts, drawn, len(texts), dtype, submission.vocabulary)
    for cut in found.leaking():
        ids = encoded[cut.text][cut.sequence].ids
        for _ in range(CONFIRMING):
            tokens = donors.tokens(ids, cut.place, other=cut.text, rng=rng)
            cut.confirmed += [gain.largest for gain in gains(submission, ids, [(cut.place, tokens)])]
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
    return {
        "dtype": found.dtype,
        "tolerance": {"cut": found.tolerance, "mean": found.mean_tolerance},
        "texts": len({cut.text for cut in found.cuts}),
        "leakingTexts": len({cut.text for cut in found.leaking()}),
        "largestGain": max((cut.value() for cut in found.cuts), default=0.0),
        "meanGain": found.mean(),
        "mayHide": {
            "foundWith": FOUND_WITH,
            "texts": found.hidden_texts(),
            "tokens": found.hidden_tokens(),
            "natsPerToken": found.hidden_tokens() * math.log(found.vocabulary) + found.mean_tolerance,
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
    if not found.looks_ahead():
        return (
            "the text after a token does not help to predict it; "
            f"a leak in {found.hidden_texts():.1%} of the texts "
            f"or at {found.hidden_tokens():.1%} of the tokens would be found with 99 %"
        )
    texts = len({cut.text for cut in found.cuts})
    leaking = len({cut.text for cut in found.leaking()})
    return (
        f"the text after a token helps to predict it, by {found.mean():.2g} nats a token: "
        f"found in {leaking} of {texts} texts that were cut at random places"
    )
