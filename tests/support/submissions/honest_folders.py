"""Makes folders of tiny models as real libraries leave them, one for each case or for each NAME.

python honest_folders.py FOLDER [NAME…]; python honest_folders.py --list
"""

import json
import os
import shutil
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="critical", TOKENIZERS_PARALLELISM="false")
warnings.filterwarnings("ignore")
REPOSITORY = Path(__file__).parents[3]
sys.path.append(str(REPOSITORY / "scorers/testing"))

import torch  # noqa: E402
from safetensors.torch import load_file, save_file, save_model  # noqa: E402
from tokenizers.processors import TemplateProcessing  # noqa: E402
from transformers import (  # noqa: E402
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    PreTrainedTokenizerFast,
    Trainer,
    TrainingArguments,
)

from make_submissions import END, byte_tokenizer  # noqa: E402

SIZES = {
    "vocab_size": 260,
    "max_position_embeddings": 256,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "bos_token_id": 0,
    "eos_token_id": 0,
    "pad_token_id": 0,
}
# Families as transformers ships them, with what each wants besides SIZES.
FAMILIES: dict[str, dict[str, Any]] = {
    "bert": {"intermediate_size": 32},
    "bloom": {},
    "falcon": {"ffn_hidden_size": 32},
    "gemma": {"intermediate_size": 32, "head_dim": 8, "num_key_value_heads": 1},
    "gemma2": {"intermediate_size": 32, "head_dim": 8, "num_key_value_heads": 1},
    "gemma3_text": {"intermediate_size": 32, "head_dim": 8, "num_key_value_heads": 1, "sliding_window": 8},
    "gpt2": {},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]], "num_heads": 2, "num_layers": 2},
    "gpt_neox": {"intermediate_size": 32},
    "gptj": {"rotary_dim": 4},
    "llama": {"intermediate_size": 32, "num_key_value_heads": 1},
    "mamba": {"state_size": 4},
    "mamba2": {"state_size": 4, "num_heads": 4, "head_dim": 8, "n_groups": 1},
    "mistral": {"intermediate_size": 32, "num_key_value_heads": 1, "sliding_window": 8},
    "mixtral": {"intermediate_size": 32, "num_key_value_heads": 1, "num_local_experts": 2},
    "olmo2": {"intermediate_size": 32, "num_key_value_heads": 1},
    "opt": {"ffn_dim": 32, "word_embed_proj_dim": 16},
    "phi": {"intermediate_size": 32, "num_key_value_heads": 2},
    "phi3": {"intermediate_size": 32, "num_key_value_heads": 1},
    "qwen2": {"intermediate_size": 32, "num_key_value_heads": 1},
    "qwen3": {"intermediate_size": 32, "num_key_value_heads": 1, "head_dim": 8},
    "roberta": {"intermediate_size": 32},
    "stablelm": {"intermediate_size": 32, "num_key_value_heads": 1},
}
T5 = {"d_model": 16, "d_ff": 32, "num_layers": 2, "num_heads": 2, "d_kv": 8}
BART = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 32}
ENCODER_DECODERS = {
    **{kind: T5 for kind in ("t5", "mt5", "umt5", "longt5", "switch_transformers")},
    **{kind: BART for kind in ("bart", "marian", "pegasus", "mbart")},
}
# Folders whose settings by transformers 5 are recorded.
FIVE = (
    *("family-gpt2", "family-llama", "family-gemma3_text", "family-qwen3", "family-mamba2", "family-mistral"),
    *("t5", "bart", "roberta-decoder", "added-tokens"),
    *("theta-llama", "linear-llama", "yarn-llama", "rotary-gpt-neox"),
)
CODE = "raise SystemExit('the code of a submission ran')\n"


def model_of(kind: str, **settings: Any) -> Any:
    torch.manual_seed(1)
    return AutoModelForCausalLM.from_config(AutoConfig.for_model(kind, **SIZES, **FAMILIES[kind], **settings))


def tokenizer_of(**settings: Any) -> PreTrainedTokenizerFast:
    names = {"bos_token": END, "eos_token": END, "pad_token": END}
    return PreTrainedTokenizerFast(tokenizer_object=byte_tokenizer(), **names, **settings)


def saved(kind: str = "gpt2", **settings: Any) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        model_of(kind, **settings).save_pretrained(folder)
        tokenizer_of().save_pretrained(folder)

    return make


def changed(change: Callable[[Path], None], make: Callable[[Path], None] | None = None):  # noqa: ANN201
    """The folder of `make` (a GPT-2), changed."""

    def both(folder: Path) -> None:
        (make or saved())(folder)
        change(folder)

    return both


def settings_in(name: str, **settings: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / name
        kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        path.write_text(json.dumps({**kept, **settings}), encoding="utf-8")

    return change


def trained(folder: Path) -> None:
    """Trainer with a checkpoint for each step, and save_model at the end."""
    rows = [{"input_ids": ids, "labels": ids} for ids in ([5, 6, 7, 8],) * 4]
    args = TrainingArguments(
        str(folder), max_steps=2, save_steps=1, report_to=[], use_cpu=True, disable_tqdm=True
    )
    trainer = Trainer(model_of("gpt2"), args, train_dataset=rows, processing_class=tokenizer_of())
    trainer.train()
    trainer.save_model()


def checkpoint(folder: Path) -> None:
    trained(folder)
    keep = folder / "checkpoint-2"
    for path in folder.iterdir():
        if path != keep:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in keep.iterdir():
        path.rename(folder / path.name)
    keep.rmdir()


def only_checkpoints(folder: Path) -> None:
    trained(folder)
    for path in folder.iterdir():
        if path.is_file():
            path.unlink()


def sft(folder: Path) -> None:
    """TRL's SFTTrainer (1.16) leaves what Trainer leaves, a model card and the chat template."""
    trained(folder)
    tokenizer_of(chat_template="{{ messages }}").save_pretrained(folder)
    (folder / "README.md").write_text("---\nlibrary_name: transformers\n---\n", encoding="utf-8")


def pickled(folder: Path) -> None:
    saved()(folder)
    (folder / "model.safetensors").unlink()
    model_of("gpt2").save_pretrained(folder, safe_serialization=False)


def both_formats(folder: Path) -> None:
    """The pickle holds another model, so that loading it would show."""
    saved()(folder)
    torch.manual_seed(9)
    torch.save(
        {name: torch.randn_like(value) for name, value in model_of("gpt2").state_dict().items()},
        folder / "pytorch_model.bin",
    )


def sharded(folder: Path) -> None:
    model_of("llama").save_pretrained(folder, max_shard_size="20KB")
    tokenizer_of().save_pretrained(folder)


def single_and_shards(folder: Path) -> None:
    """Shards of another model beside the single file, which loaders prefer."""
    sharded(folder)
    torch.manual_seed(9)
    weights = {name: torch.randn_like(value) for name, value in model_of("llama").state_dict().items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def halved(dtype: torch.dtype, kind: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        model_of(kind).to(dtype).save_pretrained(folder)
        tokenizer_of().save_pretrained(folder)

    return make


def by_state_dict(folder: Path) -> None:
    """safetensors alone, with a tensor that the model lacks and without metadata."""
    model = model_of("llama")
    model.config.save_pretrained(folder)
    save_file({**model.state_dict(), "extra": torch.ones(2)}, folder / "model.safetensors")
    tokenizer_of().save_pretrained(folder)


def by_accelerate(folder: Path) -> None:
    from accelerate import Accelerator

    model = model_of("gpt2")
    Accelerator(cpu=True).save_model(model, str(folder))
    model.config.save_pretrained(folder)
    tokenizer_of().save_pretrained(folder)


def encoder_decoder(kind: str, **settings: Any) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        ids = {name: SIZES[name] for name in ("vocab_size", "eos_token_id", "pad_token_id")}
        sizes = {**ids, **ENCODER_DECODERS[kind], **settings}
        config = AutoConfig.for_model(kind, decoder_start_token_id=0, **sizes)
        torch.manual_seed(1)
        AutoModelForSeq2SeqLM.from_config(config).save_pretrained(folder)
        tokenizer = tokenizer_of()
        # as the tokenizers of T5 and BART do
        tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
            single=f"$A {END}", special_tokens=[(END, 0)]
        )
        tokenizer.save_pretrained(folder)

    return make


def adapted(folder: Path) -> Any:
    from peft import LoraConfig, get_peft_model

    saved()(folder.with_name("base-of-adapter"))
    base = AutoModelForCausalLM.from_pretrained(folder.with_name("base-of-adapter"))
    torch.manual_seed(2)
    lora = LoraConfig(task_type="CAUSAL_LM", r=2, target_modules=["c_attn"], init_lora_weights=False)
    tokenizer_of().save_pretrained(folder)
    return get_peft_model(base, lora)


def adapter_and_merged(folder: Path) -> None:
    adapted(folder).save_pretrained(folder)
    adapted(folder).merge_and_unload().save_pretrained(folder)


def coded(kind: str) -> Callable[[Path], None]:
    """As on the hub: with code of its own for a type that transformers ships."""

    def change(folder: Path) -> None:
        names = {
            "AutoConfig": f"configuration_{kind}.C",
            "AutoModelForCausalLM": f"modeling_{kind}.M",
        }
        for name in ("configuration", "modeling"):
            (folder / f"{name}_{kind}.py").write_text(CODE, encoding="utf-8")
        settings_in("config.json", auto_map=names)(folder)

    return change


def type_of_its_own(folder: Path) -> None:
    coded("phi3")(folder)
    settings_in("config.json", model_type="my_phi3")(folder)


def slow_files(folder: Path) -> None:
    """vocab.json and merges.txt of a GPT-2 without a tokenizer.json."""
    byte_tokenizer().model.save(str(folder))
    (folder / "tokenizer.json").unlink()
    settings_in("tokenizer_config.json", tokenizer_class="GPT2Tokenizer")(folder)


def word_pieces(folder: Path) -> None:
    letters = [chr(code) for code in range(33, 127)]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        (folder / name).unlink()
    settings_in("tokenizer_config.json", tokenizer_class="BertTokenizer", bos_token="[CLS]")(folder)


def pieces_only(folder: Path) -> None:
    """A sentencepiece model of three pieces; the library that writes them is not installed here."""
    pieces = b"".join(bytes([10, len(each) + 2, 10, len(each)]) + each for each in (b"<unk>", b"<s>", b"a"))
    (folder / "tokenizer.model").write_bytes(pieces)
    (folder / "tokenizer.json").unlink()
    settings_in("tokenizer_config.json", tokenizer_class="LlamaTokenizer")(folder)


def bytes_without_vocabulary(folder: Path) -> None:
    from transformers import ByT5Tokenizer

    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        (folder / name).unlink()
    ByT5Tokenizer(extra_ids=0).save_pretrained(folder)


def more_tokens(folder: Path) -> None:
    tokenizer = tokenizer_of()
    tokenizer.add_tokens(["saw", " aunt"])
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|extra|>"]})
    tokenizer.save_pretrained(folder, legacy_format=False)
    (folder / "added_tokens.json").write_text(json.dumps(tokenizer.get_added_vocab()), encoding="utf-8")


def by_save_model(metadata: dict[str, str] | None = None) -> Callable[[Path], None]:
    """safetensors.torch.save_model, which keeps one name of a tied weight: of a GPT-2, that of the head."""

    def change(folder: Path) -> None:
        config = AutoConfig.from_pretrained(folder)
        kind = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
        save_model(kind.from_pretrained(folder), str(folder / "model.safetensors"), metadata)

    return change


def tensors_in(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Path], None]:
    def both(folder: Path) -> None:
        path = folder / "model.safetensors"
        held = {name: values.clone() for name, values in load_file(path).items()}
        save_file(change(held), path, metadata={"format": "pt"})

    return both


def with_head(change: Callable[[Any], Any]) -> Callable[[Path], None]:
    """A head beside the embedding of a GPT-2."""
    return tensors_in(lambda held: {**held, "lm_head.weight": change(held[WORDS]).contiguous()})


def trained_apart(words: Any) -> Any:
    torch.manual_seed(3)
    return words + 0.5 * words.std() * torch.randn_like(words)


def index_of_tied(folder: Path) -> None:
    """An index made from state_dict(), which names a head that no shard holds."""
    held = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").rename(folder / "model-00001-of-00001.safetensors")
    names = dict.fromkeys([*held, "lm_head.weight"], "model-00001-of-00001.safetensors")
    index = {"metadata": {}, "weight_map": names}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")


def linked(folder: Path) -> None:
    """As huggingface_hub's cache holds them."""
    elsewhere = folder.with_name(f"blob-of-{folder.name}")
    (folder / "model.safetensors").rename(elsewhere)
    (folder / "model.safetensors").symlink_to(elsewhere)


def by_transformers_5(twin: str) -> Callable[[Path], None]:
    """The folder `twin`, with the settings that transformers 5 writes for it (transformers_5.py)."""

    def change(folder: Path) -> None:
        record = Path(__file__).with_name("transformers_5.json").read_text(encoding="utf-8")
        (folder / "special_tokens_map.json").unlink()
        for name, settings in json.loads(record)["folders"][twin].items():
            (folder / name).write_text(json.dumps(settings), encoding="utf-8")

    return changed(change, lambda folder: CASES[twin](folder))


def no_index(folder: Path) -> None:
    sharded(folder)
    (folder / "model.safetensors.index.json").unlink()


def gguf_only(folder: Path) -> None:
    import gguf

    writer = gguf.GGUFWriter(folder / "model-f32.gguf", "gpt2")
    writer.add_tensor("token_embd.weight", load_file(folder / "model.safetensors")[WORDS].numpy())
    for write in (writer.write_header_to_file, writer.write_kv_data_to_file, writer.write_tensors_to_file):
        write()
    writer.close()
    (folder / "model.safetensors").unlink()


WORDS = "transformer.wte.weight"


def leftovers(folder: Path) -> None:
    """What people leave in a folder of results."""
    for name in ("runs/events.out.tfevents.1", ".git/config", "wandb/run.wandb", "train.py", "model.onnx"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(CODE, encoding="utf-8")
    (folder / "latest").symlink_to("runs")
    (folder / "optimizer.pt").touch(mode=0)


def without(*names: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        for name in names:
            (folder / name).unlink()

    return change


def text_in(name: str, text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(text, encoding="utf-8") and None


CASES: dict[str, Callable[[Path], Any]] = {
    **{f"family-{kind}": saved(kind) for kind in FAMILIES if kind != "roberta"},
    "trainer": trained,
    "trainer-checkpoint": checkpoint,
    "trainer-checkpoints-only": only_checkpoints,
    "trl-sft": sft,
    "accelerate": by_accelerate,
    "safetensors-alone": by_state_dict,
    "bin-alone": pickled,
    "bin-beside": both_formats,
    "sharded": sharded,
    "sharded-and-single": single_and_shards,
    "sharded-no-index": no_index,
    "gguf": changed(gguf_only),
    "tied-llama": saved("llama", tie_word_embeddings=True),
    "untied-gpt2": saved("gpt2", tie_word_embeddings=False),
    "odd-gpt2": saved("gpt2", n_inner=7, scale_attn_by_inverse_layer_idx=True, activation_function="silu"),
    "bf16": halved(torch.bfloat16, "llama"),
    "fp16": halved(torch.float16, "gpt2"),
    "bf16-in-settings-only": changed(settings_in("config.json", dtype="bfloat16", torch_dtype="bfloat16")),
    **{kind: encoder_decoder(kind) for kind in ENCODER_DECODERS},
    "bert-decoder": saved("bert", is_decoder=True),
    "phi3-auto-map": changed(coded("phi3"), saved("phi3")),
    "falcon-auto-map": changed(coded("falcon"), saved("falcon")),
    "own-type-auto-map": changed(type_of_its_own, saved("phi3")),
    "peft-merged": lambda folder: adapted(folder).merge_and_unload().save_pretrained(folder),
    "peft-adapter": lambda folder: adapted(folder).save_pretrained(folder),
    "peft-adapter-and-merged": adapter_and_merged,
    "slow-files": changed(slow_files),
    "word-pieces": changed(word_pieces),
    "sentencepiece-only": changed(pieces_only, saved("llama")),
    "tokenizer-json-only": changed(without("tokenizer_config.json", "special_tokens_map.json")),
    "byt5-tokenizer": changed(bytes_without_vocabulary),
    "added-tokens": changed(more_tokens),
    "vocabulary-of-its-own": changed(text_in("vocab.json", '["a", "b"]')),
    "generation-zero-tokens": changed(settings_in("generation_config.json", max_new_tokens=0)),
    "generation-broken": changed(text_in("generation_config.json", "{broken")),
    "quantised": changed(settings_in("config.json", quantization_config={"quant_method": "bitsandbytes"})),
    "leftovers": changed(leftovers),
    # one name of a tied weight, and not always the one that transformers takes
    "save-model": changed(by_save_model({"format": "pt"})),
    "save-model-without-format": changed(by_save_model()),
    "save-model-t5": changed(by_save_model(), encoder_decoder("t5")),
    "save-model-bart": changed(by_save_model(), encoder_decoder("bart")),
    "save-model-bert": changed(by_save_model(), saved("bert", is_decoder=True)),
    # both names of one
    "head-of-its-own-copy": changed(with_head(lambda words: words.clone())),
    "head-rounded": changed(with_head(lambda words: words.bfloat16())),
    "head-trained-apart": changed(with_head(trained_apart)),
    "head-trained-apart-said": changed(
        settings_in("config.json", tie_word_embeddings=False), changed(with_head(trained_apart))
    ),
    "index-names-tied": changed(index_of_tied),
    "base-model-names": changed(
        tensors_in(lambda held: {name.removeprefix("transformer."): values for name, values in held.items()})
    ),
    # encoder-decoders without a tie, and without a bias that transformers adds
    "t5-untied": encoder_decoder("t5", tie_word_embeddings=False),
    "bart-without-bias": changed(
        tensors_in(
            lambda held: {name: values for name, values in held.items() if "final_logits" not in name}
        ),
        encoder_decoder("bart"),
    ),
    "linked-weights": changed(linked),
    "roberta-decoder": saved("roberta", is_decoder=True),
    # numbers of rotary embeddings, which transformers 5 names in another way
    "theta-llama": saved("llama", rope_theta=123.0),
    "linear-llama": saved("llama", rope_scaling={"rope_type": "linear", "factor": 4.0}),
    "yarn-llama": saved("llama", rope_scaling={"rope_type": "yarn", "factor": 4.0}),
    "rotary-gpt-neox": saved("gpt_neox", rotary_pct=0.5, rotary_emb_base=77),
    **{f"five-{twin}": by_transformers_5(twin) for twin in FIVE},
    "rope-parameters-without-version": changed(
        settings_in(
            "config.json", rope_theta=None, rope_parameters={"rope_theta": 123, "rope_type": "default"}
        ),
        saved("llama"),
    ),
    "layer-types-of-five": changed(
        settings_in(
            "config.json", layer_types=["full_attention", "of_tomorrow"], transformers_version="5.24.0"
        ),
        saved("qwen3"),
    ),
    # tokenizers that name their class and tokens in other ways
    "extra-tokens-list": changed(settings_in("tokenizer_config.json", extra_special_tokens=["<|extra|>"])),
    "additional-tokens": changed(
        settings_in("tokenizer_config.json", additional_special_tokens=["<|extra|>"])
    ),
    "tokenizer-class-of-tomorrow": changed(settings_in("tokenizer_config.json", tokenizer_class="Tomorrow")),
    "tokenizer-class-fast": changed(
        settings_in("tokenizer_config.json", tokenizer_class="GPT2TokenizerFast")
    ),
    "tokenizer-class-missing": changed(settings_in("tokenizer_config.json", tokenizer_class=None)),
    "chat-template-file": changed(text_in("chat_template.jinja", "{{ messages }}")),
    "generation-of-five": changed(
        settings_in("generation_config.json", use_model_defaults=True, assistant_ensemble=None)
    ),
}


def make(root: Path, names: list[str]) -> None:
    for name in names:
        folder = root / name
        folder.mkdir()
        CASES[name](folder)
    print(json.dumps(names))


if __name__ == "__main__":
    torch.set_num_threads(1)
    if sys.argv[1] == "--list":
        print(json.dumps(list(CASES)))
        raise SystemExit
    make(Path(sys.argv[1]), sys.argv[2:] or list(CASES))
