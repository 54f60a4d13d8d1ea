"""Bounds how much longer a tokenizer can make a text.

A chain of eight replacements of "e" by a hundred "e" turns one letter into 10^16. No memory holds it, and
only a text with an "e" shows it, so loading alone finds nothing.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

from tokenizers import Regex, normalizers

# honest tokenizers stay below 2 000: ALBERT's has NFKD (18 characters for U+FDFA) and a table with texts of
# 54 bytes
GROWTH_MAX = 10_000
# items that a post-processor adds to each text: honest ones add a few special tokens
TEMPLATE_MAX = 100

# parts of a pattern that match a place: looks around, borders of words, beginnings and ends
ZERO_WIDTH = re.compile(r"\(\?<?[=!]|\\[bBAzZGK]|(?<![\[\\])\^|(?<!\\)\$")

UNASSIGNED = "\u0378"  # no pattern names this character

NORMAL_FORMS = {"NFC", "NFD", "NFKC", "NFKD", "Nmt"}


def tokenizer_growth(tokenizer: dict[str, Any]) -> str | None:
    """Why the parts of a tokenizer.json make texts too long; None if they do not."""
    for part in ("normalizer", "pre_tokenizer", "decoder"):
        growth = growth_of(tokenizer.get(part))
        if growth > GROWTH_MAX:
            return (
                f"its {part} can make a text {growth:.2g} times longer; at most {GROWTH_MAX} times is allowed"
            )
    added = template_items(tokenizer.get("post_processor"))
    if added > TEMPLATE_MAX:
        return f"its post_processor adds {added} items to each text; at most {TEMPLATE_MAX} are allowed"
    return None


def growth_of(step: Any) -> float:
    """An upper bound of the characters that one character becomes, at least 1."""
    growth, unicode = 1.0, 1.0  # normal forms are idempotent, so several count once
    for one in steps_of(step):
        if one.get("type") in NORMAL_FORMS:
            unicode = 18.0
        else:
            growth *= own_growth(one)
    return growth * unicode


def steps_of(step: Any) -> Iterator[dict[str, Any]]:
    """The steps of all sequences, in order."""
    if not isinstance(step, dict):
        return
    yield step
    for name in ("normalizers", "pretokenizers", "decoders", "processors"):
        for inner in listed(step.get(name)):
            yield from steps_of(inner)


def own_growth(step: dict[str, Any]) -> float:
    match step.get("type"):
        case "Replace":
            pattern = step.get("pattern")
            exact = text_length(pattern.get("String")) if isinstance(pattern, dict) else 0
            content = text_length(step.get("content"))
            if exact > 0:
                return max(1.0, content / exact)
            # a regular expression that matches nothing inserts its content at each character
            return 1.0 + content if matches_nothing(pattern) else max(1.0, float(content))
        case "Prepend":
            return 1.0 + text_length(step.get("prepend"))
        case "Metaspace":
            return max(1.0, text_length(step.get("replacement")))
        case "Precompiled":
            return longest_precompiled(step.get("precompiled_charsmap"))
        case "ByteLevel":
            return 4.0
        case _:
            return 1.0


def matches_nothing(pattern: Any) -> bool:
    """Whether the pattern may match a place without characters, as the tokenizers' own engine reads it."""
    regex = pattern.get("Regex") if isinstance(pattern, dict) else None
    if not isinstance(regex, str):
        return False  # the loader refuses it
    if ZERO_WIDTH.search(regex):
        return True
    try:
        replaced = normalizers.Replace(Regex(regex), "X").normalize_str(UNASSIGNED)
    except Exception:
        return False  # the loader refuses it, too
    return UNASSIGNED in replaced and "X" in replaced


def longest_precompiled(table: Any) -> float:
    """The bytes of the longest text in a precompiled table of SentencePiece.

    The table is the size of a trie in 4 bytes (little endian), the trie, then texts that end in a zero byte.
    """
    try:
        data = base64.b64decode(table) if isinstance(table, str) else b""
    except (binascii.Error, ValueError):
        return 1.0
    texts = data[4 + int.from_bytes(data[:4], "little") :]
    return float(max(1, *map(len, texts.split(b"\0"))))


def template_items(step: Any) -> int:
    items = 0
    for one in steps_of(step):
        tokens = one.get("special_tokens")
        ids = (
            [len(listed(token.get("ids"))) for token in tokens.values() if isinstance(token, dict)]
            if (isinstance(tokens, dict))
            else []
        )
        items += len(listed(one.get("single"))) + len(listed(one.get("pair"))) + max(ids, default=0)
    return items


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def text_length(value: Any) -> int:
    return len(value) if isinstance(value, str) else 0
