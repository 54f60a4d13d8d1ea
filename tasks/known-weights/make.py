"""Makes the fingerprint of a model, one tensor at a time, from a folder or from a hub by range requests.

    PYTHON tasks/known-weights/make.py MODEL --licence TEXT [--source TEXT] [--output FOLDER]

PYTHON is that of the stages: `node scripts/ensure-environment.ts` prints it. MODEL is a folder of
safetensors, or owner/name or owner/name@revision of a hub. HF_TOKEN opens closed models.
"""

import argparse
import json
import sys
from pathlib import Path

import torch
from hub_model import HubModel

repository = Path(__file__).parents[2]
sys.path += [str(repository / "runners/kit/python"), str(repository / "scorers/library")]
from scorer_library.identity.fingerprint import fingerprint  # noqa: E402
from scorer_library.identity.tensors import GivenModel  # noqa: E402


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("model", help="a folder of safetensors, or owner/name[@revision] of a hub")
    options.add_argument("--licence", required=True, help="of the weights")
    options.add_argument("--source", help="origin and version of the weights; for a hub its name there")
    options.add_argument(
        "--output", type=Path, default=Path(__file__).parent, help="where NAME.json is written"
    )
    given = options.parse_args()
    is_local = Path(given.model).is_dir()
    if is_local and given.source is None:
        options.error(f"nothing says where the weights in {given.model} come from: add --source")
    name = Path(given.model.split("@")[0]).resolve().name
    file = given.output / f"{name}.json"
    if file.exists():
        options.error(f"{file} exists: remove it to make it again, or name another folder with --output")
    torch.set_num_threads(1)
    about = {
        "formatVersion": 2,
        "name": name,
        "source": given.source or f"hub {given.model}",
        "licence": given.licence,
    }
    opened = GivenModel(name, Path(given.model)) if is_local else HubModel(*given.model.split("@"))
    with opened as weights:
        found = (fingerprint(tensor, weights.read(tensor)) for tensor in weights.names())
        entries = [f"    {json.dumps(entry)}" for entry in found if entry is not None]
    if not entries:
        raise SystemExit(f"{given.model}: no matrix of plain floats, so nothing would be recognised")
    tensors = ",\n".join(entries)
    file.write_text(
        f'{json.dumps(about, indent=2)[:-2]},\n  "tensors": [\n{tensors}\n  ]\n}}\n', encoding="utf-8"
    )
    print(file)


if __name__ == "__main__":
    main()
