"""Makes submissions for every scorer's tests: a tiny whole one, and others that are broken in one way each.

The code shows what is wrong with each. No random numbers: the weights are sines of the element's place, so
every version of torch makes the same ones.
"""

import argparse
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
from torch import Tensor

END = "<|endoftext|>"
WIDTH, POSITIONS = 16, 320

Weights = dict[str, Tensor]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="gets one folder for each submission")
    root = parser.parse_args().folder
    write_tiny(root / "tiny")
    for name, spoil in BROKEN.items():
        shutil.copytree(root / "tiny", root / name)
        spoil(root / name)
    write_two_way(root / "two-way-attention")


# --- the whole one: a GPT-2 of one layer over bytes -------------------------------------------------


def write_tiny(folder: Path) -> None:
    folder.mkdir(parents=True)
    tokenizer = byte_tokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    names = {"bos_token": END, "eos_token": END}
    write_json(
        folder / "tokenizer_config.json",
        {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False, **names},
    )
    size = tokenizer.get_vocab_size()
    write_json(
        folder / "config.json",
        {
            "architectures": ["GPT2LMHeadModel"],
            "model_type": "gpt2",
            "n_embd": WIDTH,
            "n_head": 2,
            "n_layer": 1,
            "n_positions": POSITIONS,
            "vocab_size": size,
            "bos_token_id": 0,
            "eos_token_id": 0,
        },
    )
    save_file(tiny_weights(size), folder / "model.safetensors", metadata={"format": "pt"})


def byte_tokenizer() -> Tokenizer:
    """One token for each byte; the end token has id 0."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: at for at, token in enumerate([END, *letters])}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.add_special_tokens([END])
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def tiny_weights(vocabulary: int) -> Weights:
    shapes = {
        "wte.weight": (vocabulary, WIDTH),
        "wpe.weight": (POSITIONS, WIDTH),
        "h.0.attn.c_attn.weight": (WIDTH, 3 * WIDTH),
        "h.0.attn.c_attn.bias": (3 * WIDTH,),
        "h.0.attn.c_proj.weight": (WIDTH, WIDTH),
        "h.0.attn.c_proj.bias": (WIDTH,),
        "h.0.mlp.c_fc.weight": (WIDTH, 4 * WIDTH),
        "h.0.mlp.c_fc.bias": (4 * WIDTH,),
        "h.0.mlp.c_proj.weight": (4 * WIDTH, WIDTH),
        "h.0.mlp.c_proj.bias": (WIDTH,),
    }
    weights = {name: sines(shape, at + 1) for at, (name, shape) in enumerate(shapes.items())}
    for norm in ("h.0.ln_1", "h.0.ln_2", "ln_f"):
        weights[f"{norm}.weight"] = torch.ones(WIDTH)
        weights[f"{norm}.bias"] = torch.zeros(WIDTH)
    return {f"transformer.{name}": tensor for name, tensor in weights.items()}


def sines(shape: tuple[int, ...], salt: int, size: float = 0.1) -> Tensor:
    places = torch.arange(1, 1 + torch.Size(shape).numel(), dtype=torch.float64)
    return (size * torch.sin(places * places * 0.7 + salt)).to(torch.float32).reshape(shape)


# --- the broken ones --------------------------------------------------------------------------------


def weights_by(change: Callable[[str, Tensor], Tensor]) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        path = folder / "model.safetensors"
        weights = {name: change(name, tensor) for name, tensor in load_file(path).items()}
        save_file(weights, path, metadata={"format": "pt"})

    return spoil


def writing(name: str, text: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        (folder / name).write_text(text, encoding="utf-8")

    return spoil


def deleting(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def without_tensor(folder: Path) -> None:
    path = folder / "model.safetensors"
    weights = load_file(path)
    del weights["transformer.h.0.mlp.c_fc.weight"]  # transformers would initialise it randomly
    # as many elements as in the config, so that a count does not find the error
    save_file({**weights, "spare": torch.zeros(WIDTH, 4 * WIDTH)}, path, metadata={"format": "pt"})


def wrong_shape(name: str, tensor: Tensor) -> Tensor:
    return tensor.T.contiguous() if name.endswith("c_fc.weight") else tensor


def truncated(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1000])


def tokenless(folder: Path) -> None:
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast"})


def unfit_tokenizer(folder: Path) -> None:
    """Fewer embeddings than tokens; otherwise valid."""
    config = json.loads((folder / "config.json").read_text())
    write_json(folder / "config.json", {**config, "vocab_size": 100})
    weights_by(lambda name, tensor: tensor[:100].contiguous() if name.endswith("wte.weight") else tensor)(
        folder
    )


def lossy_tokenizer(folder: Path) -> None:
    tokenizer = byte_tokenizer()
    tokenizer.normalizer = normalizers.Replace(" ", "")
    tokenizer.save(str(folder / "tokenizer.json"))


def huge_config(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    write_json(folder / "config.json", {**config, "n_embd": 1 << 20, "vocab_size": 1 << 30})


def write_two_way(folder: Path) -> None:
    """BERT with attention in both directions, which AutoModelForCausalLM also loads."""
    from transformers import BertConfig, BertLMHeadModel

    write_tiny(folder)
    config = BertConfig(
        vocab_size=257,
        hidden_size=WIDTH,
        intermediate_size=WIDTH,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=POSITIONS,
    )
    model = BertLMHeadModel(config)
    with torch.no_grad():
        for at, parameter in enumerate(model.parameters()):
            parameter.copy_(sines(tuple(parameter.shape), at, 0.5))
    model.save_pretrained(folder)


def write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2, sort_keys=True) + "\n", encoding="utf-8")


BROKEN: dict[str, Callable[[Path], None]] = {
    "nan-weights": weights_by(lambda _, tensor: torch.full_like(tensor, torch.nan)),
    "infinite-bias": weights_by(
        lambda name, tensor: tensor * torch.inf if name.endswith("ln_f.bias") else tensor
    ),
    "zero-weights": weights_by(lambda _, tensor: torch.zeros_like(tensor)),
    "random-weights": weights_by(lambda name, tensor: sines(tuple(tensor.shape), sum(map(ord, name)), 0.02)),
    "missing-tensor": without_tensor,
    "wrong-shape": weights_by(wrong_shape),
    "truncated-file": truncated,
    "empty-file": writing("model.safetensors", ""),
    "no-weights": deleting("model.safetensors"),
    "no-tokenizer": deleting("tokenizer.json"),
    "tokenizer-of-something-else": lambda folder: (
        (folder / "tokenizer.json").write_text('{"a": [1]}') and None
    ),
    "adapter": writing("adapter_config.json", '{"base_model_name_or_path": "gpt2"}'),
    "no-bos-no-eos": tokenless,
    "unfit-tokenizer": unfit_tokenizer,
    "lossy-tokenizer": lossy_tokenizer,
    "huge-config": huge_config,
    "config-of-nothing": writing("config.json", "[]"),
}


if __name__ == "__main__":
    main()
