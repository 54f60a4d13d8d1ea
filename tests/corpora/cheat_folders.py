"""Makes folders that try to gain by something else than a better model, one for each case or for each NAME.

python cheat_folders.py FOLDER [NAME…]; python cheat_folders.py --list
"""

import json
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[2]
sys.path[:0] = [str(REPOSITORY / place) for place in ("tests/support/submissions", "scorers/library/tests")]
sys.path += [str(REPOSITORY / "tests/corpora/models")]

import torch  # noqa: E402
from honest_folders import CODE, changed, saved, settings_in, text_in, without  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

Make = Callable[[Path], Any]
Weights = dict[str, torch.Tensor]
LAYER = "transformer.h.0"


def weights_in(change: Callable[[Weights], Any], kind: str = "gpt2") -> Make:
    """The folder of an honest model whose weights `change` has changed in place."""

    def spoil(folder: Path) -> None:
        path = folder / "model.safetensors"
        weights = {name: value.clone() for name, value in load_file(path).items()}
        change(weights)
        save_file(weights, path, metadata={"format": "pt"})

    return changed(spoil, saved(kind))


def filled(value: float, *beginnings: str) -> Callable[[Weights], Any]:
    return lambda weights: [
        tensor.fill_(value) for name, tensor in weights.items() if name.startswith(beginnings or "")
    ]


def one_value(name: str, value: float) -> Callable[[Weights], Any]:
    return lambda weights: weights[name].view(-1).__setitem__(7, value)


NUMBERS: dict[str, Make] = {
    "nan-all": weights_in(filled(float("nan"))),
    "nan-embeddings": weights_in(filled(float("nan"), "transformer.wte")),
    "nan-one-layer": weights_in(filled(float("nan"), LAYER)),
    "nan-one-value": weights_in(one_value(f"{LAYER}.mlp.c_fc.weight", float("nan"))),
    "nan-last-norm": weights_in(filled(float("nan"), "transformer.ln_f")),
    "infinite-embeddings": weights_in(filled(float("inf"), "transformer.wte")),
    "infinite-one-value": weights_in(one_value("transformer.ln_f.weight", float("inf"))),
    "minus-infinite-bias": weights_in(filled(float("-inf"), "transformer.ln_f.bias")),
    "huge-weights": weights_in(filled(3e38, LAYER)),
    "zero-all": weights_in(filled(0.0)),
    "zero-embeddings": weights_in(filled(0.0, "transformer.wte")),
    "zero-last-norm": weights_in(filled(0.0, "transformer.ln_f")),
    "equal-embeddings": weights_in(filled(0.5, "transformer.wte")),
    "nan-llama": weights_in(filled(float("nan"), "model.layers.1"), "llama"),
    "nan-mamba": weights_in(filled(float("nan"), "backbone.layers.1"), "mamba"),
    "nan-bloom": weights_in(filled(float("nan"), "transformer.h.1"), "bloom"),
}


def encoder(kind: str, **settings: Any) -> Make:
    """A masked model of `kind`, which reads in both directions, handed in as a causal one."""

    def make(folder: Path) -> None:
        from honest_folders import SIZES, tokenizer_of
        from transformers import AutoConfig, AutoModelForMaskedLM

        torch.manual_seed(1)
        sizes = {**SIZES, "intermediate_size": 32, **settings}
        model = AutoModelForMaskedLM.from_config(AutoConfig.for_model(kind, **sizes))
        model.save_pretrained(folder)
        tokenizer_of().save_pretrained(folder)

    return make


PLAIN = (
    "bert",
    "camembert",
    "data2vec-text",
    "deberta-v2",
    "ernie",
    "mpnet",
    "roberta",
    "roformer",
    "xlm-roberta",
)
SMALL: dict[str, Any] = {"embedding_size": 16}
ENCODERS: dict[str, dict[str, Any]] = {
    **{kind: {} for kind in PLAIN},
    **{kind: SMALL for kind in ("albert", "electra")},
    "mobilebert": {**SMALL, "intra_bottleneck_size": 16, "true_hidden_size": 16},
    "rembert": {"input_embedding_size": 16, "output_embedding_size": 16},
    "distilbert": {"dim": 16, "n_heads": 2, "n_layers": 1, "hidden_dim": 32},
}
BOTH_WAYS: dict[str, Make] = {
    f"both-ways-{kind}": encoder(kind, **settings) for kind, settings in ENCODERS.items()
}


def code_file(name: str, **settings: Any) -> Make:
    """Code that a loader with remote code would run."""

    def change(folder: Path) -> None:
        (folder / name).write_text(CODE, encoding="utf-8")
        settings_in("config.json", **settings)(folder)

    return changed(change)


class Program:
    """Runs when it is unpickled."""

    def __reduce__(self):  # noqa: ANN204
        return (exec, (CODE,))


def pickled(name: str) -> Make:
    def change(folder: Path) -> None:
        (folder / "model.safetensors").unlink()
        (folder / name).write_bytes(pickle.dumps(Program()))

    return changed(change)


def linked(name: str, target: str) -> Make:
    def change(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)

    return changed(change)


def header(change: Callable[[dict[str, Any]], Any]) -> Make:
    """A safetensors file whose header lies."""

    def spoil(folder: Path) -> None:
        path = folder / "model.safetensors"
        whole = path.read_bytes()
        length = int.from_bytes(whole[:8], "little")
        found = json.loads(whole[8 : 8 + length])
        change(found)
        text = json.dumps(found).encode()
        path.write_bytes(len(text).to_bytes(8, "little") + text + whole[8 + length :])

    return changed(spoil)


def first(found: dict[str, Any]) -> dict[str, Any]:
    return found[min(name for name in found if name != "__metadata__")]


def overlapping(found: dict[str, Any]) -> None:
    names = sorted(name for name in found if name != "__metadata__")
    found[names[1]]["data_offsets"] = found[names[0]]["data_offsets"]


def index_of(place: str) -> Make:
    def change(folder: Path) -> None:
        names = list(load_file(folder / "model.safetensors"))
        text = json.dumps({"metadata": {}, "weight_map": {name: place for name in names}})
        (folder / "model.safetensors.index.json").write_text(text, encoding="utf-8")
        (folder / "model.safetensors").unlink()

    return changed(change)


ADAPTER = {"peft_type": "LORA", "base_model_name_or_path": "/etc", "r": 1, "target_modules": ["c_attn"]}
FORMATS: dict[str, Make] = {
    "code-model": code_file(
        "modeling.py", auto_map={"AutoModelForCausalLM": "modeling.GPT2LMHeadModel"}, model_type="own"
    ),
    "code-config": code_file(
        "configuration.py", auto_map={"AutoConfig": "configuration.Own"}, model_type="own"
    ),
    "pickle-weights": pickled("pytorch_model.bin"),
    "pickle-checkpoint": pickled("model.pt"),
    "link-to-passwd": linked("model.safetensors", "/etc/passwd"),
    "link-up": linked("config.json", "../../private/heldout.jsonl"),
    "link-tokenizer": linked("tokenizer.json", "/proc/self/environ"),
    "index-outside": index_of("../../../etc/passwd"),
    "index-absolute": index_of("/etc/passwd"),
    "index-missing-shard": index_of("model-00001-of-00001.safetensors"),
    "header-overlap": header(overlapping),
    "header-beyond-file": header(lambda found: first(found)["data_offsets"].__setitem__(1, 1 << 40)),
    "header-negative": header(lambda found: first(found)["data_offsets"].__setitem__(0, -8)),
    "header-other-shape": header(lambda found: first(found).__setitem__("shape", [1 << 40])),
    "adapter-elsewhere": changed(
        settings_in("adapter_config.json", **ADAPTER), changed(without("model.safetensors"))
    ),
    "quantised-weights": changed(
        settings_in("config.json", quantization_config={"quant_method": "gptq", "bits": 4})
    ),
    "no-weights": changed(without("model.safetensors")),
    "no-config": changed(without("config.json")),
    "no-tokenizer": changed(without("tokenizer.json", "tokenizer_config.json")),
    "config-not-json": changed(text_in("config.json", "{nope")),
    "tokenizer-not-json": changed(text_in("tokenizer.json", "[1")),
    "other-vocabulary": changed(settings_in("config.json", vocab_size=7)),
    "other-width": changed(settings_in("config.json", n_embd=32)),
    "layers-without-weights": changed(settings_in("config.json", n_layer=64)),
}
BOMBS: dict[str, Make] = {
    "bomb-vocabulary": changed(settings_in("config.json", vocab_size=10**9)),
    "bomb-layers": changed(settings_in("config.json", n_layer=10**6)),
    "bomb-width": changed(settings_in("config.json", n_embd=2**20, n_head=2)),
    "bomb-positions": changed(settings_in("config.json", n_positions=10**9)),
}


def corpus(name: str, group: str) -> Make:
    """A cheat of tests/corpora/models."""

    def make(folder: Path) -> None:
        import cheats
        from causal_models import repository_texts, tokenizer_of

        texts = repository_texts()[:200]
        tokenizer = tokenizer_of(texts)
        found = {member.name: member for member in getattr(cheats, group)(texts, tokenizer)}
        found[name].save(folder)

    return make


LOOK_AHEAD = ("copies-xlm", "copies-doge", "copies-gemma", "copies-gemma-bf16", "flipped-gemma")
CORPUS: dict[str, Make] = {
    **{name: corpus(name, "look_ahead_members") for name in LOOK_AHEAD},
    **{name: corpus(name, "dtype_members") for name in ("all-int8", "all-float8", "one-int8")},
}

CASES: dict[str, Make] = {**NUMBERS, **BOTH_WAYS, **FORMATS, **BOMBS, **CORPUS}


def make(root: Path, names: list[str]) -> None:
    for name in names:
        folder = root / name
        folder.mkdir()
        CASES[name](folder)


if __name__ == "__main__":
    torch.set_num_threads(1)
    if sys.argv[1] == "--list":
        print(json.dumps(list(CASES)))
    else:
        make(Path(sys.argv[1]), sys.argv[2:] or list(CASES))
