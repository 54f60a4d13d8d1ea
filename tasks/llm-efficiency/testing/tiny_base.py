"""Makes a tiny base model: the same architecture, a few thousand random weights, its own tokens.

By hand: PYTHONPATH=tasks python tasks/llm-efficiency/testing/tiny_base.py TRAIN.jsonl FOLDER
"""

import json
import sys
from pathlib import Path

import torch
from transformers import LlamaForCausalLM

from testing.tiny_llama import tiny_llama


def main() -> None:
    source, folder = Path(sys.argv[1]), Path(sys.argv[2])
    texts = [json.loads(line)["instruction"] for line in source.read_text(encoding="utf-8").splitlines()]
    config, tokenizer = tiny_llama(texts)
    torch.manual_seed(0)
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    main()
