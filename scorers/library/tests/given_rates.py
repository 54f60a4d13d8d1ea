"""Honest submissions and cheats made from small bases of many architectures, compared by the step `identity`.

pipelines/steps/identity-rates.thorough.test.ts starts it, judges by the rules, and prints the rates (ADR 43):
python given_rates.py FOLDER BASES SEED RULES writes FOLDER/cases.json, and identity.json of each case.
BASES is a number, with a sample of what can be made from each, or "all": all of it, of each architecture.
"""

import json
import os
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from given_bases import KINDS, base_of
from given_cheats import BASE_CHEATS, COMPRESSED_CHEATS, Cheat
from given_honest import (
    COMPRESSED,
    DTYPES,
    MOVED,
    MOVED_TRAINED,
    TRAINED,
    Honest,
)
from given_removals import Draw
from safetensors.torch import load_file, save_file

from mlrb_kit.canonical import write_canonical
from mlrb_kit.stage import Stage

# by method: honest recipes of two kinds, which every other base has, and cheats
METHODS: dict[str, tuple[tuple[tuple[Honest, ...], tuple[Honest, ...]], tuple[Cheat, ...]]] = {
    "base-approved": ((TRAINED, MOVED_TRAINED), BASE_CHEATS),
    "compressed-base": ((COMPRESSED, MOVED), COMPRESSED_CHEATS),
}
APART = 1000  # between the seeds of two bases
# an architecture, its base's type of numbers, and what is made: a number for the seed, the method, a recipe
Made = tuple[str, str, list[tuple[int, tuple[str, Honest | Cheat]]]]


class Turns:
    """Gives each of a list in turn, in an order drawn by the seed. What does not fit waits for its turn."""

    def __init__(self, every: Sequence[Any], rng: random.Random) -> None:
        self.every = every
        self.rng = rng
        self.waiting: list[Any] = []

    def next(self, family: str) -> Any:
        for _ in range(2):
            for one in self.waiting:
                if one.fits(family):
                    self.waiting.remove(one)
                    return one
            self.waiting += self.rng.sample(self.every, len(self.every))
        raise AssertionError(f"nothing fits {family}")


def drawn(bases: int, seed: int) -> list[Made]:
    """A sample of what can be made from so many bases."""
    rng = random.Random(seed)
    families = rng.sample(KINDS, len(KINDS))
    honest = {method: [Turns(some, rng) for some in kinds] for method, (kinds, _) in METHODS.items()}
    cheats = {method: Turns(some, rng) for method, (_, some) in METHODS.items()}
    plan = []
    for at in range(bases):
        family = families[at % len(families)]
        made = [
            (method, turns.next(family))
            for method in METHODS
            for turns in (honest[method][at % 2], cheats[method])
        ]
        plan.append((family, rng.choice(DTYPES), list(enumerate(made))))
    return plan


def all_of(methods: list[str], seed: int) -> list[Made]:
    """One base of each architecture, and all that can be made from it."""
    rng = random.Random(seed)
    every = [
        (method, one)
        for method in methods
        for some in (*METHODS[method][0], METHODS[method][1])
        for one in some
    ]
    return [
        (family, rng.choice(DTYPES), [made for made in enumerate(every) if made[1][1].fits(family)])
        for family in rng.sample(KINDS, len(KINDS))
    ]


def save(model: Any, folder: Path, one: Honest | Cheat, base: Path) -> None:
    model.save_pretrained(folder, **({"max_shard_size": "200KB"} if one.shards else {}))
    if one.decoys:
        path = folder / "model.safetensors"
        hidden = {f"decoy.{name}": value for name, value in load_file(base / path.name).items()}
        save_file(load_file(path) | hidden, path, {"format": "pt"})


def write_cases(folder: Path, bases: str, seed: int, rules: list[dict[str, Any]]) -> None:
    from identity import compare

    cases: list[dict[str, Any]] = []
    methods = [rule["method"] for rule in rules]
    plan = all_of(methods, seed) if bases == "all" else drawn(int(bases), seed)
    for at, (family, dtype, made) in enumerate(plan):
        with tempfile.TemporaryDirectory() as temporary:
            models = Path(temporary, "models")
            base = base_of(family, seed + APART * at).to(getattr(torch, dtype))
            base.save_pretrained(models / "base")
            base = base.float()
            for number, (method, one) in made:
                draw = Draw(family, seed + APART * at + number)
                submission = Path(temporary, str(number))
                save(one.make(base, draw), submission, one, models / "base")
                inputs = {"submission": submission, "models": models}
                stage = Stage("identity", {}, inputs, {}, None, secret_seed=f"{seed:016x}")
                file = f"{len(cases)}.json"
                write_canonical(folder / file, {"formatVersion": 1, **compare(stage, rules)})
                about = {"file": file, "method": method, "family": family, "recipe": one.name}
                about["detail"] = ", ".join([f"base in {dtype}", *draw.notes])
                cases.append(about | kind_of(one))
                print(json.dumps(cases[-1]), flush=True)
    write_canonical(folder / "cases.json", cases)


def kind_of(one: Honest | Cheat) -> dict[str, Any]:
    if isinstance(one, Honest):
        return {"kind": "honest", "knownEvasion": False}
    return {"kind": "cheat", "knownEvasion": one.known_evasion}


def main() -> None:
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error", TOKENIZERS_PARALLELISM="false")
    sys.path.insert(0, "pipelines/steps")
    torch.set_num_threads(1)
    folder, bases, seed, rules = sys.argv[1:]
    write_cases(Path(folder), bases, int(seed), json.loads(rules))


if __name__ == "__main__":
    main()
