"""Checks which tokenizers are refused because they can make a text too long."""

import base64
import unittest
from typing import Any

from mlrb_kit.tokenizer_growth import tokenizer_growth


def replace(content: str, pattern: dict[str, str] | None = None) -> dict[str, Any]:
    return {"type": "Replace", "pattern": pattern or {"String": "e"}, "content": content}


def sequence(*normalizers: dict[str, Any]) -> dict[str, Any]:
    return {"normalizer": {"type": "Sequence", "normalizers": list(normalizers)}}


def precompiled(*texts: str) -> dict[str, Any]:
    table = bytes(4) + b"".join(text.encode() + b"\0" for text in texts)
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(table).decode()}


def template(count: int) -> dict[str, Any]:
    return {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "x", "type_id": 0}}] * count}


SPACES = replace("▁", {"Regex": " {2,}"})
NFKD = {"type": "NFKD"}

HONEST: dict[str, dict[str, Any]] = {
    "GPT-2": {"normalizer": None, "pre_tokenizer": {"type": "ByteLevel"}, "decoder": {"type": "ByteLevel"}},
    "Llama 2": sequence({"type": "Prepend", "prepend": "▁"}, replace("▁")),
    "T5": sequence(precompiled("a" * 54), {"type": "Strip"}, SPACES),
    "BERT": {"normalizer": {"type": "BertNormalizer"}, "post_processor": template(3)},
    "ALBERT": sequence(replace('"'), replace('"'), NFKD, precompiled("a" * 54), SPACES),
}

QUOTES = [
    replace('"', {"Regex": "[\u201c\u201d]"}),
    replace("'", {"Regex": "[\u2018\u2019]"}),
    replace(" ", {"Regex": r"\s+"}),
]
HONEST["a cleaning normalizer"] = sequence(
    {"type": "NFKC"}, *QUOTES * 5, replace("", {"Regex": r"^\s+|\s+$"})
)

BOMBS: dict[str, tuple[dict[str, Any], str]] = {
    "a chain of replacements": (sequence(*[replace("e" * 100)] * 8), r"its normalizer .* 1e\+16 times"),
    "a chain of short replacements": (sequence(*[replace("ee")] * 14), "its normalizer"),
    "matches of nothing": (sequence(*[replace("▁", {"Regex": "x*"})] * 14), "its normalizer"),
    "matches before a letter": (sequence(*[replace("e", {"Regex": "(?=e)"})] * 40), "its normalizer"),
    "matches of borders": (sequence(*[replace("e", {"Regex": r"\b"})] * 40), "its normalizer"),
    "a nested chain": (sequence(*[sequence(*[replace("ee")] * 2)["normalizer"]] * 7), "its normalizer"),
    "one long replacement": (sequence(replace("e" * 50_000)), "its normalizer"),
    "a chain that prepends": (sequence(*[{"type": "Prepend", "prepend": "▁"}] * 14), "its normalizer"),
    "a long precompiled text": (sequence(precompiled("short", "e" * 100_000)), "its normalizer"),
    "a decoder": (
        {"decoder": {"type": "Sequence", "decoders": [replace("e" * 20)] * 4}},
        "its decoder",
    ),
    "a long template": ({"post_processor": template(100_000)}, "adds 100000 items"),
    "templates in a sequence": (
        {"post_processor": {"type": "Sequence", "processors": [template(3)] * 50}},
        "adds 150 items",
    ),
    "a token of many ids": (
        {"post_processor": {**template(1), "special_tokens": {"x": {"ids": [1] * 10_000}}}},
        "adds 10001 items",
    ),
}


class Growth(unittest.TestCase):
    def test_honest_tokenizers_are_within_the_bound(self) -> None:
        for name, tokenizer in HONEST.items():
            self.assertIsNone(tokenizer_growth(tokenizer), name)

    def test_bombs_are_refused_with_their_factor(self) -> None:
        for name, (tokenizer, words) in BOMBS.items():
            self.assertRegex(tokenizer_growth(tokenizer) or "", words, name)

    def test_parts_of_any_shape_are_read(self) -> None:
        for part in (1, "text", [], {"type": 3}, {"normalizers": 5}, {"type": "Precompiled"}):
            for name in ("normalizer", "decoder", "post_processor"):
                self.assertIsNone(tokenizer_growth({name: part}))


if __name__ == "__main__":
    unittest.main()
