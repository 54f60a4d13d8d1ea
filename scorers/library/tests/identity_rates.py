"""Rates of false alarms and of found copies for the comparison with known models (ADR 43).

Trains small models from scratch by many recipes. Each is a known model for all others. The thresholds were
fixed before the first of these models was made, so every seed is a check.
By hand, from the repository: PYTHONPATH=runners/kit/python:scorers/library:scorers/library/tests
    python scorers/library/tests/identity_rates.py MODELS SEED
"""

import sys
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from math import comb
from pathlib import Path
from typing import Any

import torch
from identity_models import HIDDEN, State, each, llama, noise, on_hidden, state_of
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel

from scorer_library.identity.fingerprint import fingerprint
from scorer_library.identity.known import KnownTensor, as_known, matches_of
from scorer_library.identity.work import Work

REPOSITORY = Path(__file__).parents[3]
VOCABULARY = 1024
TEXTS = ("docs/**/*.md", "runners/**/*.ts", "scorers/**/*.py")  # what the models learn
STEPS, BATCH, LENGTH = 40, 8, 64


@dataclass(frozen=True)
class Trained:
    recipe: str
    state: State


@cache
def text_of(files: str) -> Tensor:
    """Bytes and pairs of bytes as numbers below the vocabulary's size."""
    joined = b"".join(path.read_bytes() for path in sorted(REPOSITORY.glob(files)) if path.is_file())
    pairs = torch.frombuffer(bytearray(joined[: len(joined) // 2 * 2]), dtype=torch.uint8).long().view(-1, 2)
    return (pairs[:, 0] * 7 + pairs[:, 1]) % VOCABULARY


def train(seed: int) -> Trained:
    """From random weights. Architecture, data, first size, optimiser, rate and steps follow from `seed`."""
    draw = torch.Generator().manual_seed(seed)
    pick = lambda options: options[int(torch.randint(len(options), (1,), generator=draw))]  # noqa: E731
    kind, files, rate = pick(["llama", "llama", "gpt2"]), pick([*TEXTS]), pick([1e-3, 3e-3, 1e-2])
    steps, size, optimiser = (
        pick([STEPS // 4, STEPS, 3 * STEPS]),
        pick([0.5, 1.0, 3.0]),
        pick(["AdamW", "SGD"]),
    )
    model: Any = llama(seed, layers=2) if kind == "llama" else gpt2(seed)
    tokens = text_of(files)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 2:
                parameter.mul_(size)
    step = (
        torch.optim.AdamW(model.parameters(), rate, weight_decay=0.1)
        if optimiser == "AdamW"
        else torch.optim.SGD(model.parameters(), 30 * rate, momentum=0.9)
    )
    for _ in range(steps):
        starts = torch.randint(len(tokens) - LENGTH, (BATCH,), generator=draw)
        batch = torch.stack([tokens[start : start + LENGTH] for start in starts])
        loss = model(input_ids=batch, labels=batch).loss
        step.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        step.step()
    return Trained(f"{kind} {files} {optimiser} {rate} x{steps} {size}", state_of(model))


def gpt2(seed: int) -> Any:
    torch.manual_seed(seed)
    return GPT2LMHeadModel(
        GPT2Config(vocab_size=VOCABULARY, n_positions=LENGTH, n_embd=HIDDEN, n_layer=2, n_head=4)
    )


def known_of(state: State) -> list[KnownTensor]:
    entries = [fingerprint(name, value) for name, value in state.items()]
    return [as_known(entry) for entry in entries if entry is not None]


def answer(matches: list[dict[str, Any]]) -> str:
    """As identity-rules.ts decides."""
    if not matches:
        return "pass"
    sure = len(matches) > 1 or (matches[0]["by"] == "places" and matches[0]["likeness"] >= 0.9)
    return "fail" if sure else "undecided"


def copies(state: State, seed: int) -> dict[str, State]:
    """Of a Llama; each keeps the function, or most of it."""
    draw = torch.Generator().manual_seed(seed)
    order = torch.eye(HIDDEN)[:, torch.randperm(HIDDEN, generator=draw)]
    turn = torch.linalg.qr(torch.randn(HIDDEN, HIDDEN, generator=draw))[0]
    moved = on_hidden(state, order, fold=False)
    stretch = torch.diag(torch.exp(0.5 * torch.randn(HIDDEN, generator=draw)))
    signs = torch.diag(torch.sign(torch.randn(HIDDEN, generator=draw)))
    return {
        "unchanged": state,
        "trained or rounded, noise of 30 %": noise(state, seed, 0.3),
        "mixed half and half with noise": noise(state, seed, 1.0),
        "permuted": moved,
        "rotated": on_hidden(state, turn, fold=True),
        "padded": on_hidden(state, torch.eye(HIDDEN, HIDDEN + 16), fold=False),
        "signs changed": on_hidden(state, signs, fold=False),
        "columns rescaled": on_hidden(state, stretch, fold=False),
        "in BF16": {name: value.bfloat16() for name, value in state.items()},
        "90 % of values zero": each(pruned, state),
        "permuted and noise of 1 %": noise(moved, seed, 0.01),
        "permuted and noise of 5 %": noise(moved, seed, 0.05),
        "permuted and rescaled": on_hidden(state, stretch @ order, fold=False),
    }


def pruned(value: Tensor) -> Tensor:
    least = value.abs().flatten().kthvalue(int(0.9 * value.numel())).values
    return torch.where(value.abs() > least, value, 0.0)


def upper(count: int, total: int) -> float:
    """The 95 % upper bound of a rate, exact, by bisection of the binomial distribution."""
    low, high = count / total, 1.0
    for _ in range(40):
        rate = (low + high) / 2
        tail = sum(comb(total, k) * rate**k * (1 - rate) ** (total - k) for k in range(count + 1))
        low, high = (rate, high) if tail > 0.05 else (low, rate)
    return high


def measure(models: int, seed: int) -> dict[str, Any]:
    """`honest`: models by their worst answer against others. `copies`: answers of copies of each Llama."""
    trained = [train(seed + at) for at in range(models)]
    known = [known_of(one.state) for one in trained]
    matched = [matches_of(one.state, known, "00", Work())[1] for one in trained]
    worst = ["pass"] * models
    pairs: Counter[str] = Counter()
    nearest = {"places": 0.0, "sizes": 0.0}
    for at, other in permutations(range(models), 2):
        matches = matched[at][other]
        said = answer(matches)
        pairs[said] += 1
        worst[at] = max(worst[at], said, key=["pass", "undecided", "fail"].index)
        for one in matches:
            nearest[one["by"]] = max(nearest[one["by"]], one["likeness"])
    found: dict[str, Counter[str]] = {}
    for at, one in enumerate(trained):
        if one.recipe.startswith("llama"):
            for name, state in copies(one.state, seed + at).items():
                _, [matches] = matches_of(state, [known[at]], "00", Work())
                found.setdefault(name, Counter())[answer(matches)] += 1
    return {"honest": Counter(worst), "pairs": pairs, "nearest": nearest, "copies": found}


def main() -> None:
    torch.set_num_threads(1)
    models, seed = int(sys.argv[1]), int(sys.argv[2])
    result = measure(models, seed)
    alarms = models - result["honest"]["pass"]
    print(f"{models} honest models, seed {seed}: {dict(result['honest'])}, pairs {dict(result['pairs'])}")
    print(f"rate of alarms at most {upper(alarms, models):.3f} (95 %); nearest matches {result['nearest']}")
    for name, answers in result["copies"].items():
        total = answers.total()
        print(f"{name}: {dict(answers)}; missed at most {upper(total - answers['fail'], total):.3f}")


if __name__ == "__main__":
    main()
