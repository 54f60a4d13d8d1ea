"""Makes tiny models: the base model's architecture, a few thousand random weights, their own tokens.

By hand: PYTHONPATH=tasks python tasks/llm-merging/testing/tiny_models.py DEV.jsonl FOLDER
"""

import json
import sys
from pathlib import Path

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from testing.tiny_llama import tiny_llama

EXPERTS = ["astronomy-expert", "nutrition-expert"]


def main() -> None:
    questions, folder = Path(sys.argv[1]), Path(sys.argv[2])
    rows = [json.loads(line) for line in questions.read_text(encoding="utf-8").splitlines()]
    config, tokenizer = tiny_llama([f"{row['question']} {' '.join(row['choices'])}" for row in rows])
    torch.manual_seed(0)
    model = LlamaForCausalLM(config)
    save(model, tokenizer, folder / "base")
    for name in EXPERTS:
        expert = LlamaForCausalLM(config)
        expert.load_state_dict(model.state_dict())
        with torch.no_grad():
            for parameter in expert.parameters():
                parameter.add_(torch.randn_like(parameter) * 0.1)
        save(expert, tokenizer, folder / name)


def save(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    main()
