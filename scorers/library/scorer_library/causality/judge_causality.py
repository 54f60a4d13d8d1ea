"""Decides whether a submission reads the text that it predicts, from cuts at random places."""

import math
import random
from collections.abc import Sequence as Many
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import Submission
from scorer_library.causality.draw_cuts import FOUND_WITH, Drawing, draw_cuts
from scorer_library.causality.encode_texts import Encoder, Sequence, places_of
from scorer_library.causality.gain import Gain, gains
from scorer_library.causality.scored_texts import ScoredText

CONFIRMING = 4  # other replacements of a cut that shows a gain; their median decides
TRIES = 20  # to find text that begins with another token


# nats that rounding may give one cut: at least three times what honest models of a dtype show
# (tests/test_causality_rates.py). Likelihoods are computed in single precision. The coarsest type comes last.
TOLERANCES = {"float64": 1e-3, "float32": 1e-3, "float16": 2e-2, "bfloat16": 1e-1}


@dataclass
class Cut:
    kind: str
    source: str
    sequence: int
    place: int
    gain: Gain
    confirmed: list[float] = field(default_factory=list)  # gains over other replacements

    def value(self) -> float:
        return median(self.confirmed) if self.confirmed else self.gain.largest


@dataclass(frozen=True)
class Mean:
    """Nats of each predicted token that the text after it gives: a mean over the cuts of one kind of text.

    Rounding errors of many cuts cancel out, so its tolerance falls with their number.
    """

    gain: float
    tolerance: float


@dataclass(frozen=True)
class Found:
    cuts: list[Cut]
    drawings: list[Drawing]  # of each kind of text
    dtype: str
    vocabulary: int
    untested: dict[str, str] = field(default_factory=dict)  # kinds on which the submission fails, and why

    @property
    def tolerance(self) -> float:
        return TOLERANCES[self.dtype]

    def leaking(self) -> list[Cut]:
        return [cut for cut in self.cuts if cut.value() > self.tolerance]

    def mean(self) -> Mean:
        """Of the kind of text that comes nearest to its tolerance."""
        by_kind: dict[str, list[float]] = {}
        for cut in self.cuts:
            by_kind.setdefault(cut.kind, []).append(cut.gain.token)
        means = [
            Mean(math.fsum(gains) / len(gains), self.tolerance / math.sqrt(len(gains)))
            for gains in by_kind.values()
        ]
        return max(means, key=lambda mean: mean.gain / mean.tolerance, default=Mean(0.0, self.tolerance))

    def looks_ahead(self) -> bool:
        mean = self.mean()
        return bool(self.leaking()) or mean.gain > mean.tolerance

    def hidden_texts(self) -> float:
        """The largest share of a kind's texts in which a leak could be missed."""
        return max((drawing.hidden_texts() for drawing in self.drawings), default=0.0)

    def hidden_places(self) -> float:
        return max((drawing.hidden_places() for drawing in self.drawings), default=0.0)


def measure_look_ahead(
    submission: Submission, texts: Many[ScoredText], seed: bytes, cuts_max: float = math.inf
) -> Found:
    """Cuts each kind of text by itself, since its scores are their own: at `cuts_max` places at most.

    A failure on one kind says nothing of the others: an honest model may be unable to read one kind's rows.
    Scorers of an untested kind reject the submission. Raises Rejected where it fails on every kind.
    """
    rng = random.Random(seed)
    dtype = dtype_of(submission.model)
    found = Found([], [], dtype, submission.vocabulary)
    kinds = sorted({text.kind for text in texts})
    for kind in kinds:
        members = [text for text in texts if text.kind == kind]
        try:
            chosen, drawing = draw(submission, members, rng, cuts_max)
            cuts = measure_cuts(submission, chosen, rng, found.tolerance)
        except Rejected as rejected:
            found.untested[kind] = str(rejected)
            continue
        found.drawings.append(drawing)
        found.cuts.extend(cuts)
    if kinds and len(found.untested) == len(kinds):
        raise Rejected(found.untested[kinds[0]])
    return found


def dtype_of(model: Any) -> str:
    """The coarsest type among the parameters that round; some types keep a few in single precision."""
    held = {str(values.dtype).removeprefix("torch.") for values in model.parameters()}
    if not (known := [dtype for dtype in TOLERANCES if dtype in held]):
        raise Rejected(
            f"the model computes in {', '.join(sorted(held)) or 'nothing'}, not in {', '.join(TOLERANCES)}"
        )
    return known[-1]


@dataclass(frozen=True)
class Chosen:
    """A text with places at which it is cut: the number of a sequence, and a place in it."""

    text: ScoredText
    sequences: list[Sequence]
    places: list[tuple[int, int]]


def draw(
    submission: Submission, texts: Many[ScoredText], rng: random.Random, cuts_max: float
) -> tuple[list[Chosen], Drawing]:
    encoder = Encoder(submission)
    encoded = encoder.encode(texts)
    places = [places_of(found) for found in encoded]
    drawing = draw_cuts([len(found) for found in places], [text.group for text in texts], rng, cuts_max)
    numbers: dict[int, set[int]] = {}
    for one in drawing.draws:
        numbers.setdefault(one.text, set()).add(one.place)
    again = encoder.encode([texts[at] for at in sorted(numbers)])
    for at, sequences in zip(sorted(numbers), again, strict=True):
        if [one.text() for one in sequences] != [one.text() for one in encoded[at]]:
            raise Rejected("the tokenizer encodes the same text in different ways")
    chosen = [
        Chosen(texts[at], encoded[at], [places[at][number] for number in sorted(found)])
        for at, found in sorted(numbers.items())
    ]
    return chosen, drawing


def measure_cuts(
    submission: Submission, chosen: list[Chosen], rng: random.Random, tolerance: float
) -> list[Cut]:
    donors = Donors([[token for one in text.sequences for token in one.ids[1:]] for text in chosen])
    cuts: list[Cut] = []
    for at, text in enumerate(chosen):
        for number in sorted({number for number, _ in text.places}):
            one = text.sequences[number]
            here = [place for among, place in text.places if among == number]
            replaced = [(place, donors.tokens(one.ids, place, other=at, rng=rng)) for place in here]
            for place, gain in zip(here, gains(submission, one, replaced), strict=True):
                cut = Cut(text.text.kind, text.text.source, number, place, gain)
                if cut.value() > tolerance:
                    others = [donors.tokens(one.ids, place, other=at, rng=rng) for _ in range(CONFIRMING)]
                    again = gains(submission, one, [(place, tokens) for tokens in others])
                    cut.confirmed = [gain.largest for gain in again]
                cuts.append(cut)
    return cuts


class Donors:
    """Text that replaces other text: runs of tokens of other scored texts, so that both are natural."""

    def __init__(self, encoded: list[list[int]]) -> None:
        self.encoded = {at: ids for at, ids in enumerate(encoded) if ids}

    def tokens(self, ids: Many[int], cut: int, *, other: int, rng: random.Random) -> list[int]:
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
    texts, places, mean = found.hidden_texts(), found.hidden_places(), found.mean()
    return {
        "dtype": found.dtype,
        "tolerance": {"cut": found.tolerance, "mean": mean.tolerance},
        "texts": len({cut.source for cut in found.cuts}),
        "leakingTexts": len({cut.source for cut in found.leaking()}),
        "largestGain": max((cut.value() for cut in found.cuts), default=0.0),
        "meanGain": mean.gain,
        "mayHide": {
            "foundWith": FOUND_WITH,
            "texts": texts,
            "tokens": places,
            "natsPerToken": places * math.log(found.vocabulary) + mean.tolerance if found.cuts else 0.0,
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
            f"a leak in {found.hidden_texts():.1%} of the texts "
            f"or at {found.hidden_places():.1%} of the tokens would be found with 99 %"
        )
    texts = len({cut.source for cut in found.cuts})
    leaking = len({cut.source for cut in found.leaking()})
    return (
        f"the text after a token helps to predict it, by {found.mean().gain:.2g} nats a token: "
        f"found in {leaking} of {texts} texts that were cut at random places"
    )
