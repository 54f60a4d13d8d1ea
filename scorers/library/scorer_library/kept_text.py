"""Whether a tokenizer gives a model the text that is scored (docs/measures.md, "A tokenizer that rewrites").

The tokens' own strings are read: a submission's decoder can put back what the model never saw. What may be
lost in a word is lost there in every text, since a word must have the same tokens whatever stands around it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise, product
from operator import itemgetter
from typing import NamedTuple
from unicodedata import category, normalize

from tokenizers import decoders

from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import Submission, blame

BATCH = 512  # texts
BETWEEN_WORDS = re.compile(r"(?<=\S) (?=\S)")
BEFORE = "a"  # a word is read after this one
WORDS_MAX = 4  # a token of so many words may not hold half of a text
UNKNOWN = "\0"


class Read(NamedTuple):
    ids: list[int]
    tokens: list[str]
    parts: list[int | None]  # the number of the pre-tokenizer's piece that each token is from


def check_kept(submission: Submission, texts: Iterable[str]) -> None:
    """Raises Rejected where the model is not given one of the texts."""
    distinct = list(dict.fromkeys(filter(None, texts)))
    with blame("the tokenizer fails on text"):
        reader = Reader(submission)
        for start in range(0, len(distinct), BATCH):
            reader.check(distinct[start : start + BATCH])


class Reader:
    def __init__(self, submission: Submission) -> None:
        self.tokenizer = submission.tokenizer
        self.unknown = self.tokenizer.unk_token_id
        counts = Counter(self.tokenizer.get_vocab().values())
        self.shared = {at for at, count in counts.items() if count > 1 and at != self.unknown}
        added = self.tokenizer.get_added_vocab().items()
        self.added = {at for text, at in added if letters(text) and at != self.unknown}
        model = getattr(getattr(self.tokenizer, "backend_tokenizer", None), "model", None)
        self.suffix = getattr(model, "end_of_word_suffix", None) or "</w>"
        self.prefix = getattr(model, "continuing_subword_prefix", None) or "##"
        self.before = self.read([BEFORE])[0].ids
        self.words: dict[tuple[bool, str], list[int] | None] = {}
        self.signs: dict[str, str] = {}

    def read(self, texts: list[str]) -> list[Read]:
        found = self.tokenizer(texts, add_special_tokens=False)
        if found.encodings is not None:
            return [Read(one.ids, one.tokens, one.word_ids) for one in found.encodings]
        named = self.tokenizer.convert_ids_to_tokens  # a tokenizer of transformers' own code
        return [Read(ids, named(ids), list(range(len(ids)))) for ids in found["input_ids"]]

    def check(self, texts: list[str]) -> None:
        split = [[(at == 0, word) for at, word in enumerate(BETWEEN_WORDS.split(text))] for text in texts]
        self.read_words(sorted({word for words in split for word in words} - self.words.keys()))
        for text, words, found in zip(texts, split, self.read(texts), strict=True):
            if not self.shared.isdisjoint(found.ids):
                raise Rejected("the tokenizer gives several of its tokens one id, so its text cannot be read")
            alone = [self.words[word] for word in words]
            separate = None not in alone and found.ids == [at for ids in alone for at in ids or ()]
            if not separate and not self.joined(found, text):
                raise Rejected(
                    "the tokenizer rewrites text: what a word becomes depends on the words around it"
                )

    def read_words(self, words: list[tuple[bool, str]]) -> None:
        """The ids of each word: the first of a text, or one after BEFORE. None if they are not separate."""
        texts = [word if first else f"{BEFORE} {word}" for first, word in words]
        for (first, word), found in zip(words, self.read(texts) if texts else [], strict=True):
            before = [] if first else self.before
            own = Read(*(each[len(before) :] for each in found))
            separate = found.ids[: len(before)] == before
            if separate and not self.holds(own, word):
                raise Rejected("the tokenizer rewrites text: its tokens do not hold the letters of a word")
            self.words[first, word] = own.ids if separate else None

    def holds(self, found: Read, word: str) -> bool:
        capitals = sum(map(str.isupper, word))  # some tokenizers write a sign and a small letter
        if len(found.ids) > len(normalize("NFKD", word).encode()) + 2 + 3 * capitals:
            return False
        fitting = [one for one in self.readings(found) if signs("".join(one)) <= 2 * signs(word) + capitals]
        # without characters that the tokenizer lacks, if they are none of English
        known = "".join(filter(self.sign, word))
        own = {letters(word), letters(known)}
        return any(in_order([letters(part) for part in one], text) for one in fitting for text in own)

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
        if max("".join(found.tokens), default="") < "\u0100":  # ByT5
            yield ["".join(group).encode("latin-1").decode("utf-8", "replace") for group in groups]

    def plain(self, token: str) -> str:
        return token.removesuffix(self.suffix).removeprefix(self.prefix).removesuffix("@@")

    def joined(self, found: Read, text: str) -> bool:
        """Whether merges across words explain the tokens: nothing splits words, and all text is read."""
        pieces = [
            decoders.ByteLevel().decode([token for _, token in piece])
            for _, piece in groupby(zip(found.parts, found.tokens, strict=True), key=itemgetter(0))
        ]
        large = [one for one in found.tokens if len(re.split("[ ▁Ġ]+", one.strip(" ▁Ġ"))) >= WORDS_MAX]
        if (
            not self.added.isdisjoint(found.ids)
            or any(within(left[-1:]) and within(right[:1]) for left, right in pairwise(pieces))
            or any(2 * len(one) >= len(text) for one in large)
        ):
            return False
        known = {tidy("".join(map(self.sign, variant))) for variant in variants(text)}
        return any(tidy(UNKNOWN.join(reading)) in known for reading in self.readings(found))

    def sign(self, one: str) -> str:
        """The character; UNKNOWN if the tokenizer lacks it, or nothing if it also has no token for that."""
        if one not in self.signs:
            ids = self.read([one])[0].ids
            lost = UNKNOWN if self.unknown in ids else one
            needed = one.isspace() or (one.isascii() and one.isalnum())
            self.signs[one] = lost if ids or needed else ""
        return self.signs[one]


def tidy(text: str) -> str:
    return re.sub(f"{UNKNOWN}+", UNKNOWN, text).strip().strip(UNKNOWN).strip()


def within(letter: str) -> bool:
    return letter.isalpha() or letter in " ▁"  # so a cut next to it is inside or between words


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, normalize("NFKD", normalize("NFKD", text).casefold())))


def signs(text: str) -> int:
    """How many characters of `text` are no letters, digits, spaces or marks on letters."""
    flat = normalize("NFKD", text)
    return sum(not (one.isalnum() or one.isspace() or category(one)[0] == "M") for one in flat)


def in_order(parts: Sequence[str], text: str) -> bool:
    """Whether `text` is the parts in their order, with any characters between two of them."""
    at = 0
    for part in parts:
        found = text.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return text.startswith(parts[0]) and text.endswith(parts[-1]) and (len(parts) > 1 or at == len(text))


def variants(text: str) -> Iterator[str]:
    forms = [text, *(normalize(form, text) for form in ("NFC", "NFD", "NFKC", "NFKD"))]
    for form, lower, spaces, accents in product(forms, (False, True), (False, True), (True, False)):
        one = form.lower() if lower else form
        one = " ".join(one.split()) if spaces else one
        yield one if accents else "".join(sign for sign in one if category(sign) != "Mn")
