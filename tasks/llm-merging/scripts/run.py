"""What both agents share: candidates are made, tried, and the best is handed in.

Both may try as many candidates as there are experts, each on all development questions: that is the budget,
equal for both, and none of it is training. Nothing is drawn by chance: every seed gives the same bytes.
"""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer

from library.hand_in import Described, append_iteration, write_provenance
from library.llama import Llama, model_of, save_model
from library.repeatable import repeatable
from measure import accuracies
from mix import digest, mix

SAVE_SECONDS = 20.0  # kept free before the deadline for making and handing in


@dataclass(frozen=True)
class Candidate(Described):
    weights: dict[str, float]  # of each given model in the sum


def run(candidates: Callable[[list[str]], list[Candidate]]) -> None:
    stop_at = float(os.environ["MLRB_DEADLINE"]) - SAVE_SECONDS
    submission = Path(os.environ["MLRB_SUBMISSION"])
    repeatable()
    experts = sorted(path.name for path in Path("models").glob("*-expert"))
    best: tuple[float, float] = (-1.0, -1.0)
    parent: str | None = None
    for candidate in candidates(experts)[: len(experts)]:
        if parent and time.time() > stop_at:
            break
        models = {Path("models") / name: weight for name, weight in candidate.weights.items()}
        first = next(iter(models))
        model = model_of(first, mix(models))
        if parent is None:  # before anything is known of it: something, rather than nothing
            hand_in(submission, candidate, model, first)
        tokenizer = Tokenizer.from_file(str(first / "tokenizer.json"))
        found = accuracies(model, tokenizer, Path("data/dev.jsonl"), stop_at)
        measured = (min(found.values()), sum(found.values()) / len(found)) if found else best
        better = parent is None or measured > best
        if better and parent:
            hand_in(submission, candidate, model, first)
        best = max(best, measured)
        print(f"{candidate.name}: {said(found)}{'' if better else ', no better'}", flush=True)
        append_iteration(
            candidate,
            "worst-domain",
            measured[0] if found else None,
            id=candidate.name,
            parent=parent,
            command=Path(sys.argv[0]).name,
            decision="hand in" if better else "keep the one before",
        )
        parent = candidate.name
        del model  # memory holds one candidate at a time


def said(found: dict[str, float] | None) -> str:
    if found is None:
        return "the deadline is near: not measured"
    return ", ".join(f"{domain} {value:.3f}" for domain, value in found.items())


def hand_in(submission: Path, candidate: Candidate, model: Llama, first: Path) -> None:
    """`first`: the mixed model whose tokenizer and settings it has."""
    submission.mkdir(parents=True, exist_ok=True)
    experts = [name for name in candidate.weights if name != "base"]
    write_provenance(
        submission,
        {
            "base": "SmolLM2-135M-Instruct",
            "experts": [{"name": name, "sha256": digest(Path("models") / name)} for name in experts],
            "data": ["llm-merging-dev"],
            "tokenizer": "the base model's",
            "trainTokens": 0,
        },
    )
    save_model(submission, model, first)
