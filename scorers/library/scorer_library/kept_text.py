"""Whether a tokenizer gives a model the text that is scored (docs/measures.md, "A tokenizer that rewrites").

A tokenizer can rewrite ungrammatical sentences by regular expressions, cut them into more tokens, or hold
whole sentences as tokens. An untrained model then "knows" the answers. Three things must be true:
- The letters of each word are in its tokens. What honest tokenizers lose is allowed: case, accents, spaces,
  marks, unknown words and characters.
- A word has the same tokens whatever stands around it. So nothing that is allowed can depend on a sentence.
- Or the tokenizer leaves all words together and its model merges across them; then the whole text, with its
  spaces, must be in the tokens, and no token may hold half of it.
The tokens' own strings are read. The submission's decoder can put back what the model never saw.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product
from typing import NamedTuple, TypeVar

from tokenizers import decoders

from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import Submission, loaded

BATCH = 512  # texts
BETWEEN_WORDS = re.compile(r"(?<=\S) (?=\S)")
BEFORE = "a"  # a word is read after this one
WORDS_MAX = 4  # that a token may hold of a text, if it holds half of the text
FORMS = (None, "NFC", "NFD", "NFKC", "NFKD")
UNKNOWN = "\0"

T = TypeVar("T")


class Read(NamedTuple):
    ids: list[int]
    tokens: list[str]
    parts: list[int | None]  # the number of the pre-tokenizer's piece that each token is from


def check_kept(submission: Submission, texts: Iterable[str]) -> None:
    """Raises Rejected where the model is not given one of the texts."""
    reader = Reader(submission)
    for several in batches(list(dict.fromkeys(filter(None, texts)))):
        reader.check(several)


def batches(items: list[T]) -> Iterator[list[T]]:
    return (items[start : start + BATCH] for start in range(0, len(items), BATCH))


class Reader:
    """Reads texts through one submission's tokenizer."""

    def __init__(self, submission: Submission) -> None:
        self.tokenizer = submission.tokenizer
        self.unknown = self.tokenizer.unk_token_id
        counts = Counter(self.tokenizer.get_vocab().values())
        self.shared = {at for at, count in counts.items() if count > 1 and at != self.unknown}
        added = self.tokenizer.get_added_vocab().items()
        self.added = {at for text, at in added if letters(text) and at != self.unknown}
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        model = getattr(backend, "model", None)
        self.suffix = getattr(model, "end_of_word_suffix", None) or "</w>"
        self.prefix = getattr(model, "continuing_subword_prefix", None) or "##"
        self.before = self.read([BEFORE])[0].ids
        self.words: dict[tuple[bool, str], list[int] | None] = {}
        self.signs: dict[str, str] = {}

    def read(self, texts: Sequence[str]) -> list[Read]:
        found = loaded(
            "the tokenizer fails on text", lambda: self.tokenizer(list(texts), add_special_tokens=False)
        )
        if found.encodings is not None:
            return [Read(one.ids, one.tokens, one.word_ids) for one in found.encodings]
        named = self.tokenizer.convert_ids_to_tokens  # a tokenizer of transformers' own code
        return [Read(ids, named(ids), list(range(len(ids)))) for ids in found["input_ids"]]

    def check(self, texts: Sequence[str]) -> None:
        split = [[(at == 0, word) for at, word in enumerate(BETWEEN_WORDS.split(text))] for text in texts]
        self.read_words({word for words in split for word in words} - self.words.keys())
        for text, words, found in zip(texts, split, self.read(texts), strict=True):
            if not self.shared.isdisjoint(found.ids):
                raise Rejected("the tokenizer gives several of its tokens one id, so its text cannot be read")
            alone = [self.words[word] for word in words]
            if None not in alone and found.ids == [at for ids in alone for at in ids or ()]:
                continue
            if not self.joined(found, text):
                raise Rejected(
                    "the tokenizer rewrites text: what a word becomes depends on the words around it"
                )

    def read_words(self, words: Iterable[tuple[bool, str]]) -> None:
        """The ids of each word in a text: of its first word, or of one after another word. None if they are
        not separate from that word's."""
        for several in batches(sorted(words)):
            texts = [word if first else f"{BEFORE} {word}" for first, word in several]
            for (first, word), found in zip(several, self.read(texts), strict=True):
                skipped = 0 if first else len(self.before)
                if found.ids[:skipped] != (self.before if skipped else []):
                    self.words[first, word] = None
                    continue
                own = Read(found.ids[skipped:], found.tokens[skipped:], found.parts[skipped:])
                if not self.holds(own, word):
                    raise Rejected(
                        "the tokenizer rewrites text: its tokens do not hold the letters of a word"
                    )
                self.words[first, word] = own.ids

    def holds(self, found: Read, word: str) -> bool:
        if len(found.ids) > len(unicodedata.normalize("NFKD", word).encode()) + 2:
            return False
        # e.g. a dash written as two, or a sign in place of a capital
        most = 2 * signs(word) + sum(map(str.isupper, word))
        fitting = [one for one in self.readings(found) if signs("".join(one)) <= most]
        readings = [[letters(part) for part in one] for one in fitting]
        if any(in_order(parts, letters(word)) for parts in readings):
            return True
        # characters that the tokenizer lacks, if they are none of English
        known = "".join(one for one in word if one.isascii() or self.read([one])[0].ids)
        return known != word and any(in_order(parts, letters(known)) for parts in readings)

    def readings(self, found: Read) -> Iterator[list[str]]:
        """The text of the tokens between unknown ones, as tokenizers of bytes or of characters write it."""
        groups: list[list[str]] = [[]]
        for at, token in zip(found.ids, found.tokens, strict=True):
            if at == self.unknown:
                groups.append([])
            else:
                groups[-1].append(token)
        yield [decoders.ByteLevel().decode(group) for group in groups]
        plain = [[self.plain(token) for token in group] for group in groups]
        yield [decoders.ByteFallback().decode(group).replace("▁", " ") for group in plain]
        if all(token.isascii() or max(token) < "\u0100" for group in groups for token in group):
            yield ["".join(group).encode("latin-1").decode("utf-8", "replace") for group in groups]

    def plain(self, token: str) -> str:
        if token.endswith(self.suffix):
            return token.removesuffix(self.suffix) + " "
        return token.removeprefix(self.prefix).removesuffix("@@")

    def joined(self, found: Read, text: str) -> bool:
        """Whether the tokenizer's own merges across words explain the tokens of `text`."""
        if not self.added.isdisjoint(found.ids) or any(
            found.parts[at] != found.parts[at + 1] and within(left[-1:]) and within(right[:1])
            for at, (left, right) in enumerate(pairwise(found.tokens))
        ):
            return False
        own = letters(text)
        for reading, one in zip(self.readings(found), self.single(found), strict=False):
            largest = max(one, key=lambda token: len(letters(token)), default="")
            if len(largest.split()) >= WORDS_MAX and 2 * len(letters(largest)) >= len(own):
                return False
            seen = tidy(UNKNOWN.join(reading))
            if any(seen == tidy(self.marked(variant)) for variant in variants(text)):
                return True
        return False

    def marked(self, text: str) -> str:
        """`text` with a sign for each character that the tokenizer lacks, or without it where it has no
        token for unknown ones."""
        for one in set(text) - self.signs.keys():
            ids = self.read([one])[0].ids
            lost = UNKNOWN if self.unknown in ids else "" if not ids and not one.isascii() else one
            self.signs[one] = lost
        return "".join(map(self.signs.__getitem__, text))

    def single(self, found: Read) -> Iterator[list[str]]:
        """Each token's text, in the order of readings()."""
        yield [decoders.ByteLevel().decode([token]) for token in found.tokens]
        yield [self.plain(token).replace("▁", " ") for token in found.tokens]


def tidy(text: str) -> str:
    return re.sub(f"{UNKNOWN}+", UNKNOWN, text).strip().strip(UNKNOWN).strip()


def within(letter: str) -> bool:
    """Whether a split next to it is one inside or between words: a letter, or a sign for a space."""
    return letter.isalpha() or letter in " ▁"


def letters(text: str) -> str:
    """The letters and digits of `text`, without case and accents."""
    flat = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(one for one in flat if one.isalnum())


def signs(text: str) -> int:
    """How many characters of `text` are no letters, digits, spaces or marks on letters."""
    flat = unicodedata.normalize("NFKD", text)
    return sum(not (one.isalnum() or one.isspace() or unicodedata.category(one)[0] == "M") for one in flat)


def in_order(parts: Sequence[str], text: str) -> bool:
    """Whether `text` is the parts in their order, with any characters between two of them."""
    if len(parts) == 1:
        return parts[0] == text
    if not text.startswith(parts[0]) or not text.endswith(parts[-1]):
        return False
    at, end = len(parts[0]), len(text) - len(parts[-1])
    for part in parts[1:-1]:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return at <= end


def variants(text: str) -> Iterator[str]:
    """What normalizers that treat all characters alike make of a text."""
    for form, lower, spaces, accents in product(FORMS, (False, True), (False, True), (True, False)):
        one = text if form is None else unicodedata.normalize(form, text)
        one = one.lower() if lower else one
        one = " ".join(one.split()) if spaces else one
        yield one if accents else "".join(sign for sign in one if unicodedata.category(sign) != "Mn")
