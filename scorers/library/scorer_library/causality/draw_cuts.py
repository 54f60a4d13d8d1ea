"""Draws the places at which texts are cut, from a secret seed: as few as find a leak with 99 %.

A place is a token that is in the model's input and is also predicted. Only there a leak can help. First,
distinct texts are drawn evenly and cut at one place each, so that a leak in a share of the texts is found,
whatever their length. Where a score is a mean over groups of other sizes, texts are also drawn from random
groups, so that a leak in a share of the score is found. Then places are drawn evenly among all places, as far
as the first draws do not already find a leak at a share of the places, wherever they are.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

SHARE = 0.05  # of the texts, of a mean over groups, or of the places, that leak
FOUND_WITH = 0.99


@dataclass(frozen=True)
class Draw:
    """A cut: the `place`-th place of a text. `by`: what was drawn first."""

    text: int
    place: int
    by: Literal["text", "group", "place"]


@dataclass(frozen=True)
class Drawing:
    """`places`: how many each text has, of texts with at least one, in falling order."""

    draws: tuple[Draw, ...]
    places: tuple[int, ...]

    @property
    def texts(self) -> int:
        """How many texts were drawn evenly."""
        return sum(draw.by == "text" for draw in self.draws)

    def hidden_texts(self) -> float:
        """The smallest share of leaking texts that is found with FOUND_WITH; 0 if every text is cut."""
        count = len(self.places)
        if self.texts >= count:
            return 0.0
        return leaking_texts_found(count, self.texts) / count

    def hidden_places(self) -> float:
        """The same share of places; a text's one cut may miss another leaking place of it."""
        others = sum(draw.by == "place" for draw in self.draws)
        if sum(self.places) in (self.texts, others):
            return 0.0
        low, high = 0.0, 1.0
        for _ in range(40):
            middle = (low + high) / 2
            if missed_places(middle, self.places, self.texts, others) <= 1 - FOUND_WITH:
                high = middle
            else:
                low = middle
        return high


def draw_cuts(
    places: Sequence[int], groups: Sequence[str], rng: random.Random, cuts_max: float = math.inf
) -> Drawing:
    """`places`: how many each text has. `groups`: the group of each text; all count the same.

    At most `cuts_max` draws: with fewer than needed, more can hide.
    """
    able = [at for at, count in enumerate(places) if count > 0]
    counts = tuple(places[at] for at in able)
    texts = int(min(texts_to_draw(len(counts)), cuts_max))
    chosen = rng.sample(able, texts)
    draws = [Draw(at, rng.randrange(places[at]), "text") for at in chosen]
    for at in texts_of_groups(able, groups, rng):
        if len(draws) < cuts_max:
            draws.append(Draw(at, rng.randrange(places[at]), "group"))
    others = int(min(places_to_draw(counts, texts), cuts_max - len(draws)))
    for number in sorted(rng.sample(range(sum(counts)), others)):
        draws.append(nth_place(number, able, counts))
    return Drawing(tuple(draws), tuple(sorted(counts, reverse=True)))


def nth_place(number: int, able: Sequence[int], counts: Sequence[int]) -> Draw:
    for at, count in zip(able, counts, strict=True):
        if number < count:
            return Draw(at, number, "place")
        number -= count
    raise IndexError(number)


def texts_of_groups(able: Sequence[int], groups: Sequence[str], rng: random.Random) -> list[int]:
    """Distinct texts, each from a random group, that find a leak in SHARE of a mean over groups.

    None where all groups have one size: texts that are drawn evenly find the same.
    """
    members: dict[str, list[int]] = {}
    for at in able:
        members.setdefault(groups[at], []).append(at)
    if len({len(found) for found in members.values()}) <= 1:
        return []
    for found in members.values():
        rng.shuffle(found)
    drawn = []
    for _ in range(min(len(able), math.ceil(math.log(1 - FOUND_WITH) / math.log1p(-SHARE)))):
        group = rng.choice(sorted(members))
        drawn.append(members[group].pop())
        if not members[group]:
            del members[group]
    return drawn


def texts_to_draw(count: int) -> int:
    """The fewest distinct texts of `count` that find a leak in SHARE of them with FOUND_WITH."""
    leaking = max(1, math.floor(SHARE * count))
    return next((n for n in range(count) if missed_texts(count, leaking, n) <= 1 - FOUND_WITH), count)


def leaking_texts_found(count: int, drawn: int) -> int:
    """The fewest leaking texts of `count` that `drawn` distinct ones find with FOUND_WITH."""
    return next(k for k in range(1, count + 1) if missed_texts(count, k, drawn) <= 1 - FOUND_WITH)


def missed_texts(count: int, leaking: int, drawn: int) -> float:
    """The chance that `drawn` distinct texts of `count` hold none of `leaking` (hypergeometric)."""
    if drawn > count - leaking:
        return 0.0
    return math.exp(
        math.fsum(math.log1p(-leaking / (count - already)) for already in range(drawn)),
    )


def places_to_draw(counts: Sequence[int], texts: int) -> int:
    """The fewest further places that find a leak at SHARE of all places with FOUND_WITH."""
    everything = sum(counts)
    if texts == everything:  # every place is cut
        return 0
    missed = missed_places(SHARE, counts, texts, 0)
    if missed <= 1 - FOUND_WITH:
        return 0
    return min(everything, math.ceil(math.log((1 - FOUND_WITH) / missed) / math.log1p(-SHARE)))


def missed_places(share: float, counts: Sequence[int], texts: int, others: int) -> float:
    """The largest chance that no draw hits a leak at `share` of the places, wherever they are.

    A drawn text is cut at one of its places, so a place in a longer text is cut less often. The worst leak
    is in the longest texts. Draws of distinct texts find it at least as often as independent ones.
    """
    rest = share * sum(counts)
    hit = 0.0  # by one drawn text
    for count in sorted(counts, reverse=True):
        taken = min(rest, count)
        hit += taken / count / len(counts)
        rest -= taken
        if rest <= 0:
            break
    return math.exp(texts * log1m(hit) + others * log1m(share))


def log1m(chance: float) -> float:
    return -math.inf if chance >= 1 else math.log1p(-chance)
