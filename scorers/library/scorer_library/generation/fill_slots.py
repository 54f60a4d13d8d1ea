"""Writes formal proofs without a model: the nearest public proof, with its slot words replaced by the item's.

Some words of an informal statement recur in its formal proof: letters and names of numbers. These are the
statement's slots. With each slot replaced by the index of its first occurrence, statements that differ only
in such words are equal. An item gets the formal proof of the public statement that is nearest in this form,
with that statement's slot words replaced by its own. The method knows neither English nor Lean: a model that
has learnt to translate should be better on new phrasings.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from scorer_library.generation.items import Item

WORD = re.compile(r"\w+")
TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class Masked:
    slots: tuple[str, ...]  # the words at the slots, in order, with repetitions
    pairs: frozenset[tuple[str, str]]  # neighbouring tokens, slots as numbers, with start and end marks


def fill_slots(public: Sequence[Item], items: Sequence[Item]) -> list[str]:
    """A text for each item. The nearest statement has the highest F1 of the two sets of neighbouring tokens;
    ties go to one with as many slots, then to the first."""
    own = own_words(public)
    nearest: dict[frozenset[tuple[str, str]], list[tuple[Masked, Item]]] = {}
    for item in public:
        masked = mask(item.informal_statement, own)
        nearest.setdefault(masked.pairs, []).append((masked, item))

    def fill(item: Item) -> str:
        masked = mask(item.informal_statement, own)
        best = max(nearest, key=lambda pairs: overlap(pairs, masked.pairs))
        template, source = max(nearest[best], key=lambda one: len(one[0].slots) == len(masked.slots))
        return refill(source.formal_proof, template.slots, masked.slots)

    return [fill(item) for item in items]


def own_words(public: Iterable[Item]) -> frozenset[str]:
    """The slot words: those that occur in the formal proof of most statements with them."""
    seen, shared = Counter[str](), Counter[str]()
    for item in public:
        words = set(WORD.findall(item.informal_statement))
        seen.update(words)
        shared.update(words & set(WORD.findall(item.formal_proof)))
    return frozenset(word for word, times in seen.items() if 2 * shared[word] > times)


def mask(statement: str, own: frozenset[str]) -> Masked:
    numbers: dict[str, int] = {}
    tokens, slots = ["<"], list[str]()
    for token in TOKEN.findall(statement):
        if token in own:
            slots.append(token)
            token = f"{shape(token)} {numbers.setdefault(token, len(numbers))}"
        tokens.append(token)
    tokens.append(">")
    return Masked(tuple(slots), frozenset(pairwise(tokens)))


def shape(word: str) -> str:
    """x for n, xx for twelve, Xxx for Nat, 00 for 17: words of one shape are probably of one kind."""
    kinds = ("X" if sign.isupper() else "0" if sign.isdigit() else "x" for sign in word)
    return re.sub(r"(.)\1+", r"\1\1", "".join(kinds))


def overlap(one: frozenset[tuple[str, str]], other: frozenset[tuple[str, str]]) -> float:
    return 2 * len(one & other) / (len(one) + len(other))


def refill(formal: str, template: Sequence[str], words: Sequence[str]) -> str:
    """`formal` with each word of `template` replaced by the word of the same slot, all at once.

    A slot that the item lacks keeps its word. For a word at several slots the first slot decides.
    """
    change = dict(reversed(list(zip(template, words, strict=False))))
    return WORD.sub(lambda found: change.get(found.group(), found.group()), formal)
