"""Writes a small model to replace the base: 30 blocks, of which the named ones do nothing.

PYTHONPATH=tasks python tiny_base.py FOLDER TEXTS.jsonl 3,4,17
"""

import json
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file

from library.bpe import END, train_tokenizer

BLOCKS, WIDTH, HEADS, INNER, VOCABULARY = 30, 32, 2, 64, 300


def main(folder: Path, texts: Path, idle: set[int]) -> None:
    folder.mkdir(parents=True)
    rows = [json.loads(line)["text"] for line in texts.read_text(encoding="utf-8").splitlines()]
    tokenizer = train_tokenizer(rows, VOCABULARY)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": END, "eos_token": END})
    )
    (folder / "config.json").write_text(
        json.dumps(
            {
                "architectures": ["LlamaForCausalLM"],
                "model_type": "llama",
                "bos_token_id": tokenizer.token_to_id(END),
                "eos_token_id": tokenizer.token_to_id(END),
                "hidden_size": WIDTH,
                "intermediate_size": INNER,
                "num_attention_heads": HEADS,
                "num_key_value_heads": HEADS,
                "num_hidden_layers": BLOCKS,
                "tie_word_embeddings": True,
                "torch_dtype": "bfloat16",
                "vocab_size": tokenizer.get_vocab_size(),
            }
        )
    )
    torch.manual_seed(0)
    tensors = {
        "model.embed_tokens.weight": torch.randn(tokenizer.get_vocab_size(), WIDTH),
        "model.norm.weight": torch.ones(WIDTH),
    }
    for at in range(BLOCKS):
        tensors |= block(f"model.layers.{at}", 0.0 if at in idle else 0.5)
    plain = {name: tensor.to(torch.bfloat16) for name, tensor in tensors.items()}
    save_file(plain, folder / "model.safetensors", metadata={"format": "pt"})


def block(name: str, out: float) -> dict[str, torch.Tensor]:
    """`out` scales the block's contribution to its input."""
    attention = {part: torch.randn(WIDTH, WIDTH) * 0.2 for part in "qkv"}
    return {
        **{f"{name}.self_attn.{part}_proj.weight": weight for part, weight in attention.items()},
        f"{name}.self_attn.o_proj.weight": torch.randn(WIDTH, WIDTH) * out,
        f"{name}.mlp.gate_proj.weight": torch.randn(INNER, WIDTH) * 0.2,
        f"{name}.mlp.up_proj.weight": torch.randn(INNER, WIDTH) * 0.2,
        f"{name}.mlp.down_proj.weight": torch.randn(WIDTH, INNER) * out,
        f"{name}.input_layernorm.weight": torch.ones(WIDTH),
        f"{name}.post_attention_layernorm.weight": torch.ones(WIDTH),
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), {int(at) for at in sys.argv[3].split(",")})
