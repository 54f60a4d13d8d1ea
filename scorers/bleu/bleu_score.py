"""Corpus BLEU from the counts of each item, and its jackknife, which splits the score among the items."""

import math
from typing import Any

from sacrebleu.metrics import BLEU

from scorer_library.generation.items import MathData
from scorer_library.generation.measure import grouped

ORDER = 4

# sacrebleu's defaults, named: mixed case, 13a tokens, exponential smoothing, one reference
METRIC = BLEU(lowercase=False, tokenize="13a", smooth_method="exp", max_ngram_order=ORDER)


def bleu_score(data: MathData, texts: list[str]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Score and samples; the mean of the samples' values is the score (see README.md)."""
    references = [item.formal_proof for item in data.items]
    rows = [counts(text, reference) for text, reference in zip(texts, references, strict=True)]
    total = [sum(column) for column in zip(*rows, strict=True)]
    value = from_counts(total)
    count = len(rows)
    if count == 1:
        values, error = [value], 0.0
    else:
        without = [from_counts([a - b for a, b in zip(total, row, strict=True)]) for row in rows]
        centre = math.fsum(without) / count
        values = [value + (count - 1) * (centre - left) for left in without]
        error = math.sqrt((count - 1) / count * math.fsum((left - centre) ** 2 for left in without))
    names = ("bytes", "length", "referenceLength", "matches", "totals")
    samples = [
        {
            "value": share,
            "weight": 1,
            **dict(
                zip(
                    names,
                    (len(text.encode()), row[0], row[1], row[2 : 2 + ORDER], row[2 + ORDER :]),
                    strict=True,
                )
            ),
        }
        for share, row, text in zip(values, rows, texts, strict=True)
    ]
    sentences = [from_counts(row) for row in rows]
    extra = {
        "meanSentenceBleu": math.fsum(sentences) / count,
        "lengthRatio": total[0] / total[1] if total[1] else 0.0,
    }
    score = {"value": value, "standardError": error, "items": count, "groups": grouped_bleu(data, rows)}
    return {**score, "extra": extra}, samples


def counts(text: str, reference: str) -> list[int]:
    """Lengths of hypothesis and reference, matching n-grams of order 1 to 4, n-grams of order 1 to 4."""
    score = METRIC.corpus_score([text], [[reference]])
    return [int(score.sys_len), int(score.ref_len), *map(int, score.counts), *map(int, score.totals)]


def from_counts(total: list[int]) -> float:
    """Corpus BLEU, 0 to 100, as sacrebleu computes it from counts summed over items."""
    return float(
        BLEU.compute_bleu(
            correct=total[2 : 2 + ORDER],
            total=total[2 + ORDER :],
            sys_len=total[0],
            ref_len=total[1],
            smooth_method="exp",
            max_ngram_order=ORDER,
        ).score
    )


def grouped_bleu(data: MathData, rows: list[list[int]]) -> dict[str, dict[str, Any]]:
    groups = grouped(data, [0.0] * len(rows))
    for name in groups:
        found = [row for item, row in zip(data.items, rows, strict=True) if item.group == name]
        groups[name]["value"] = from_counts([sum(column) for column in zip(*found, strict=True)])
    return groups
