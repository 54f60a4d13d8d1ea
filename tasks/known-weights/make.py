"""Makes the fingerprint of a model, one tensor at a time, from a folder or from a hub by range requests.

`pipeline fingerprints make` runs it: make.py MODEL NAME SOURCE LICENCE > tasks/known-weights/NAME.json.
MODEL is a folder of safetensors, or owner/name or owner/name@revision of a hub; HF_TOKEN opens closed models.
SOURCE is the origin and version of the model.
"""

import json
import sys
from pathlib import Path

import torch
from hub_model import HubModel

from scorer_library.identity.fingerprint import fingerprint
from scorer_library.identity.tensors import GivenModel


def main() -> None:
    if len(sys.argv) != 5:
        raise SystemExit("make.py needs MODEL NAME SOURCE LICENCE")
    model, name, source, licence = sys.argv[1:]
    torch.set_num_threads(1)
    about = {"formatVersion": 2, "name": name, "source": source, "licence": licence}
    print(json.dumps(about, indent=2)[:-2] + ',\n  "tensors": [')
    opened = GivenModel(name, Path(model)) if Path(model).is_dir() else HubModel(*model.split("@"))
    with opened as weights:
        found = (fingerprint(tensor, weights.read(tensor)) for tensor in weights.names())
        entries = [f"    {json.dumps(entry)}" for entry in found if entry is not None]
        if not entries:
            raise SystemExit(f"{model}: no matrix of plain floats, so nothing would be recognised")
        print(",\n".join(entries))
    print("  ]\n}")


if __name__ == "__main__":
    main()
