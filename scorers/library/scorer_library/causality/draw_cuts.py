"""Draws the places at which texts are cut, from a secret seed.

A cut is a token of the model's input that is also predicted. Half of the cuts are spread evenly over texts,
so that a leak in a share of the texts is found, whatever their length. The others are spread evenly over
bytes, so that a leak at a share of the tokens is found, wherever they are.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from scorer_library.causality.scored_texts import ScoredText

CUTS = 200  # 1 - 0.955 ** 100 = 0.99: each half finds a leak of 4.5 % with 99 %
FOUND_WITH = 0.99


@dataclass(frozen=True)
class Draw:
    """`place`, in [0, 1), chooses a token: of the scored ones if `scored`, else of all in the input."""

    text: int
    scored: bool
    place: float


def draw_cuts(texts: Sequence[ScoredText], rng: random.Random, cuts: int = CUTS) -> list[Draw]:
    """At most `cuts` draws; half of them in distinct texts, or one in each text if there are fewer."""
    if not texts:
        return []
    each = rng.sample(range(len(texts)), min(cuts // 2, len(texts)))
    sizes = [len((text.context + text.scored).encode()) for text in texts]
    tokens = min(cuts, sum(sizes)) - len(each)
    by_size = rng.choices(range(len(texts)), weights=sizes, k=max(0, tokens))
    return [
        Draw(text, scored, rng.random())
        for chosen, scored in ((each, True), (by_size, False))
        for text in chosen
    ]


def share_found(draws: int) -> float:
    """The smallest share of leaking places of which `draws` independent draws hit one with FOUND_WITH."""
    return 1.0 if draws == 0 else 1 - (1 - FOUND_WITH) ** (1 / draws)
