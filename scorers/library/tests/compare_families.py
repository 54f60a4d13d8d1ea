"""Compares families of changes of small models by the step `identity`.

python compare_families.py FOLDER RULES writes identity.json of each family to FOLDER/NAME.json.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from identity_models import (
    MLP,
    State,
    decayed,
    each,
    families,
    known_families,
    llama,
    noise,
    overwritten,
    state_of,
)
from safetensors.torch import load_file, save_file

from mlrb_kit.canonical import write_canonical
from scorer_library.identity.fingerprint import fingerprint
from scorer_library.identity.known import look_for
from scorer_library.identity.tensors import described
from scorer_library.identity.work import Work

BASE = "model.safetensors"


def write_known(folder: Path, known: State) -> None:
    # wide, as known models are: few values are sampled
    draw = torch.Generator().manual_seed(9)
    wide = {f"wide.{at}": decayed(torch.randn(1024, 512, generator=draw)) for at in range(2)}
    entries = [
        entry for name, value in (known | wide).items() if (entry := fingerprint(name, value)) is not None
    ]
    path = folder / "fingerprint-of-known"
    path.write_text(json.dumps({"name": "Famous", "tensors": entries}))
    families = [*known_families(known), ("copy-overwritten", overwritten(wide))]
    for name, state in families:
        found = {
            "given": [],
            "tensors": [described(tensor, value) for tensor, value in state.items()],
            "mixtures": [],
            "known": look_for(state, [path], "0123456789abcdef", Work()),
        }
        write_canonical(folder / f"{name}.json", {"formatVersion": 1, **found})


def save(folder: Path, model: Any, state: State, decoys: State | None = None) -> Path:
    missing = model.load_state_dict(dict(state), strict=False).missing_keys
    assert set(missing) <= {"lm_head.weight"}, missing
    dtype = next(iter(state.values())).dtype
    model.to(dtype).save_pretrained(folder)
    if decoys:
        path = folder / BASE
        save_file(
            load_file(path) | {f"decoy.{name}": value for name, value in decoys.items()},
            path,
            {"format": "pt"},
        )
    return folder


def make_models(folder: Path) -> Iterator[tuple[str, Path]]:
    """Writes the given models under FOLDER/models, and each family."""
    base = state_of(llama(0))
    one = noise(base, 10, 0.1, MLP)
    two = noise(base, 20, 0.1, MLP)
    for name, state in (("base", base), ("one", one), ("two", two)):
        save(folder / "models" / name, llama(0), state)
    for name, model, state in families(base, one, two):
        yield name, save(folder / name, model, state)
    other = state_of(llama(99))
    yield "decoys", save(folder / "decoys", llama(99), other, decoys=base)


def main() -> None:
    sys.path.insert(0, "pipelines/steps")
    from identity import compare

    from mlrb_kit.stage import Stage

    folder = Path(sys.argv[1])
    write_known(folder, each(decayed, state_of(llama(0))))
    rules = json.loads(sys.argv[2])
    for name, path in make_models(folder):
        inputs = {"submission": path, "models": folder / "models"}
        stage = Stage("identity", {}, inputs, {}, None, secret_seed="0123456789abcdef")
        write_canonical(folder / f"{name}.json", {"formatVersion": 1, **compare(stage, rules)})


if __name__ == "__main__":
    main()
