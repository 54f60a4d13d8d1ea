"""Mean ROUGE-L F1 over items, by the package rouge_score."""

from typing import Any

from rouge_score.rouge_scorer import RougeScorer

from scorer_library.generation.items import MathData
from scorer_library.generation.measure import grouped
from scorer_library.ratio import ratio

# the package's tokens are lower-cased runs of a-z and 0-9, so signs such as ∀ and = do not count
SCORER = RougeScorer(["rougeL"], use_stemmer=False)


def rouge_score_mean(data: MathData, texts: list[str]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Score and samples; samples also have precision and recall."""
    samples = []
    for item, text in zip(data.items, texts, strict=True):
        found = SCORER.score(item.formal_proof, text)["rougeL"]
        samples.append(
            {
                "value": float(found.fmeasure),
                "weight": 1,
                "precision": float(found.precision),
                "recall": float(found.recall),
            }
        )
    value, error = ratio(samples)
    groups = grouped(data, [sample["value"] for sample in samples])
    return {"value": value, "standardError": error, "items": len(samples), "groups": groups}, samples
