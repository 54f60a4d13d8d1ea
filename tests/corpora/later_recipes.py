"""Honest recipes that were written after the code that judges them, so nothing was fitted to them.

Each is a way in which a researcher or an agent may make and save a small model: how it was trained, merged,
cut or converted, which tokenizer it got, and what else lies in its folder.

python later_recipes.py FOLDER [NAME…]; python later_recipes.py --list
"""

import copy
import json
import os
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="critical", TOKENIZERS_PARALLELISM="false")
warnings.filterwarnings("ignore")
REPOSITORY = Path(__file__).parents[2]
sys.path.append(str(REPOSITORY / "scorers/testing"))

import torch  # noqa: E402
import transformers  # noqa: E402
from safetensors.torch import load_file, save_file, save_model  # noqa: E402
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers  # noqa: E402
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

COMMON = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "max_position_embeddings": 512}
LLAMA = {"intermediate_size": 32, "num_key_value_heads": 1}
WINDOW = 64
Weights = dict[str, torch.Tensor]


# --- what the recipes share -------------------------------------------------------------------------


def texts() -> list[str]:
    return [path.read_text(encoding="utf-8")[:6000] for path in sorted(REPOSITORY.glob("docs/adr/*.md"))]


def of_bytes(**settings: Any) -> PreTrainedTokenizerFast:
    names = {"bos_token": END, "eos_token": END, "pad_token": END}
    return PreTrainedTokenizerFast(tokenizer_object=byte_tokenizer(), **{**names, **settings})


def config_of(kind: str, tokenizer: Any, **settings: Any) -> Any:
    ids = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("bos", "eos", "pad")}
    return AutoConfig.for_model(kind, **{"vocab_size": len(tokenizer), **ids, **COMMON, **settings})


def model_of(kind: str, tokenizer: Any, **settings: Any) -> Any:
    torch.manual_seed(5)
    return AutoModelForCausalLM.from_config(config_of(kind, tokenizer, **settings))


def rows_of(tokenizer: Any, count: int = 64) -> torch.Tensor:
    ids = [at for text in texts() for at in tokenizer(text)["input_ids"]]
    return torch.tensor(ids[: WINDOW * min(count, len(ids) // WINDOW)]).view(-1, WINDOW)


def batches(tokenizer: Any, steps: int) -> Iterator[torch.Tensor]:
    rows = rows_of(tokenizer)
    for step in range(steps):
        yield rows[torch.arange(4 * step, 4 * step + 4) % len(rows)]


def fit(model: Any, tokenizer: Any, *, steps: int = 6, rate: float = 3e-3, after: Any = None) -> Any:
    optimizer = torch.optim.AdamW([one for one in model.parameters() if one.requires_grad], lr=rate)
    model.train()
    for rows in batches(tokenizer, steps):
        model(input_ids=rows, labels=rows).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if after:
            after(model)
    return model.eval()


def new(kind: str, tokenizer: Any = None, **settings: Any) -> tuple[Any, Any]:
    """A model that was trained for a few steps, and its tokenizer."""
    tokenizer = tokenizer or of_bytes()
    return fit(model_of(kind, tokenizer, **settings), tokenizer), tokenizer


def keep(folder: Path, *parts: Any, **settings: Any) -> None:
    for part in parts:
        part.save_pretrained(folder, **(settings if isinstance(part, torch.nn.Module) else {}))


def plain(kind: str, tokenizer_of: Callable[[], Any] = of_bytes, **settings: Any) -> Callable[[Path], None]:
    return lambda folder: keep(folder, *new(kind, tokenizer_of(), **settings))


def by_hand(folder: Path, config: Any, weights: Weights, tokenizer: Any, **metadata: str) -> None:
    config.save_pretrained(folder)
    held = {name: value.detach().clone().contiguous() for name, value in weights.items()}
    save_file(held, folder / "model.safetensors", metadata=metadata or None)
    tokenizer.save_pretrained(folder)


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


# --- how training ends ------------------------------------------------------------------------------


def compiled(folder: Path) -> None:
    """torch.compile, whose prefix was cleaned from state_dict() by hand."""
    tokenizer = of_bytes()
    model = model_of("gpt_neox", tokenizer, intermediate_size=64, rotary_pct=0.25, use_parallel_residual=True)
    fast = fit(torch.compile(model, backend="eager"), tokenizer)
    weights = {name.removeprefix("_orig_mod."): value for name, value in fast.state_dict().items()}
    assert set(weights) != set(fast.state_dict())
    by_hand(folder, model.config, weights, tokenizer, format="pt")


def from_distributed_checkpoint(folder: Path) -> None:
    """torch.distributed.checkpoint, as torchtitan and FSDP write it, converted to one file in BF16."""
    from torch.distributed import checkpoint as dcp

    model, tokenizer = new("olmo2", **LLAMA)
    with tempfile.TemporaryDirectory() as held:
        prefixed = {f"_fsdp_wrapped_module.{name}": value for name, value in model.state_dict().items()}
        dcp.save({"model": prefixed}, checkpoint_id=held, no_dist=True)
        read: dict[str, Any] = {"model": {name: torch.zeros_like(value) for name, value in prefixed.items()}}
        dcp.load(read, checkpoint_id=held, no_dist=True)
    weights = {
        name.removeprefix("_fsdp_wrapped_module."): value.bfloat16() for name, value in read["model"].items()
    }
    model.config.dtype = "bfloat16"
    by_hand(folder, model.config, weights, tokenizer, format="pt")


def moving_average(folder: Path) -> None:
    """EMA weights by torch's AveragedModel; the last ones lie beside them."""
    from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

    tokenizer = of_bytes()
    model = model_of("qwen3", tokenizer, **LLAMA, head_dim=8, tie_word_embeddings=True)
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.7))
    fit(model, tokenizer, after=average.update_parameters)
    keep(folder, average.module, tokenizer)
    keep(folder / "last", model)


def averaged_checkpoints(folder: Path) -> None:
    """The mean in double precision of Trainer's checkpoints, which stay."""
    tokenizer = of_bytes()
    model = model_of("mistral", tokenizer, **LLAMA, sliding_window=32)
    train(folder, model, tokenizer, max_steps=4, save_steps=1, save_total_limit=3)
    found = [load_file(path) for path in sorted(folder.glob("checkpoint-*/model.safetensors"))]
    mean = {name: sum(one[name].double() for one in found) / len(found) for name in found[0]}
    by_hand(
        folder,
        model.config,
        {name: torch.as_tensor(each).float() for name, each in mean.items()},
        tokenizer,
        format="pt",
    )


def train(folder: Path, model: Any, tokenizer: Any, **settings: Any) -> Trainer:
    data: Any = [{"input_ids": row, "labels": row} for row in rows_of(tokenizer, 16)]
    given = {"per_device_train_batch_size": 4, "learning_rate": 3e-3, "report_to": [], **settings}
    args = TrainingArguments(str(folder), use_cpu=True, disable_tqdm=True, **given)
    trainer = Trainer(model, args, train_dataset=data, eval_dataset=data, processing_class=tokenizer)
    trainer.train()
    return trainer


def best_checkpoint(folder: Path) -> None:
    """Trainer with evaluation, the best checkpoint at the end, and all that it logs."""
    tokenizer = of_bytes()
    rope = {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64,
    }
    model = model_of("llama", tokenizer, **LLAMA, rope_scaling=rope, rope_theta=500000.0)
    often = {"save_steps": 2, "eval_steps": 2, "eval_strategy": "steps", "logging_steps": 1}
    trainer = train(folder, model, tokenizer, max_steps=4, load_best_model_at_end=True, **often)
    trainer.save_model()
    trainer.save_state()
    trainer.save_metrics("eval", trainer.evaluate())
    trainer.create_model_card(model_name="baby")


def soup(folder: Path) -> None:
    """Three runs from one start at several rates, averaged and saved in shards."""
    tokenizer = of_bytes()
    start = model_of("gpt2", tokenizer)
    runs = [
        fit(copy.deepcopy(start), tokenizer, rate=rate, steps=4).state_dict() for rate in (1e-3, 2e-3, 4e-3)
    ]
    start.load_state_dict({name: sum(run[name] for run in runs) / len(runs) for name in runs[0]})
    keep(folder, start, tokenizer, max_shard_size="6KB")


def spherical_merge(folder: Path) -> None:
    """SLERP of two runs, with mergekit's settings beside the weights."""
    tokenizer = of_bytes()
    start = model_of("qwen2", tokenizer, **LLAMA)
    first, second = (fit(copy.deepcopy(start), tokenizer, rate=rate).state_dict() for rate in (1e-3, 5e-3))

    def between(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        cosine = torch.nn.functional.cosine_similarity(one.flatten(), other.flatten(), dim=0).clamp(-1, 1)
        angle = torch.acos(cosine)
        if angle < 1e-3:
            return (one + other) / 2
        return (one + other) * torch.sin(angle / 2) / torch.sin(angle)

    merged = {name: between(first[name], second[name]).bfloat16() for name in first}
    start.config.dtype = "bfloat16"
    by_hand(folder, start.config, merged, tokenizer, format="pt", mergekit_version="0.1.4")
    write(folder, **{"mergekit_config.yml": "merge_method: slerp\nparameters:\n  t: 0.5\ndtype: bfloat16\n"})


def adapter_merged(kind: str, adapter: dict[str, Any], **settings: Any) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        from peft import LoraConfig, get_peft_model

        tokenizer = of_bytes()
        lora = LoraConfig(task_type="CAUSAL_LM", r=2, target_modules="all-linear", **adapter)
        tuned = fit(get_peft_model(model_of(kind, tokenizer, **settings), lora), tokenizer, rate=1e-2)
        keep(folder / "adapter", tuned)
        keep(folder, tuned.merge_and_unload(), tokenizer)

    return make


def distilled(folder: Path) -> None:
    """A student of another family that learnt from the likelihoods of a wider teacher."""
    tokenizer = of_bytes()
    teacher = fit(model_of("llama", tokenizer, **LLAMA | {"hidden_size": 32}), tokenizer)
    student = model_of(
        "gpt_neo", tokenizer, attention_types=[[["global", "local"], 1]], num_layers=2, num_heads=2
    )
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9)
    for rows in batches(tokenizer, 6):
        with torch.no_grad():
            goal = teacher(rows).logits.softmax(-1)
        torch.nn.functional.kl_div(student(rows).logits.log_softmax(-1), goal, reduction="batchmean").div(
            WINDOW
        ).backward()
        optimizer.step()
        optimizer.zero_grad()
    keep(folder, student, tokenizer)


def in_double(folder: Path) -> None:
    """Trained and saved in F64, to study rounding."""
    tokenizer = of_bytes()
    keep(
        folder,
        fit(model_of("codegen", tokenizer, num_attention_heads=4, rotary_dim=4).double(), tokenizer),
        tokenizer,
    )


def rounded(folder: Path) -> None:
    """Training with weights rounded to int4, and the rounded values saved as F16."""
    model, tokenizer = new("starcoder2", **LLAMA, sliding_window=None)
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, torch.nn.Linear) and module is not model.get_output_embeddings():
                scale = module.weight.abs().amax(1, keepdim=True) / 7
                module.weight.copy_((module.weight / scale).round().clamp(-8, 7) * scale)
    keep(folder, model.half(), tokenizer)


# --- models that were cut or grown ------------------------------------------------------------------


def without_heads(folder: Path) -> None:
    """prune_heads of transformers, which config.json then names."""
    model, tokenizer = new("gpt2", num_attention_heads=4)
    model.prune_heads({0: [1], 1: [0, 3]})
    keep(folder, fit(model, tokenizer, steps=2), tokenizer)


def without_neurons(folder: Path) -> None:
    """The half of the neurons with the greatest weights."""
    model, tokenizer = new("llama", **LLAMA)
    for layer in model.model.layers:
        mlp = layer.mlp
        best = (
            (mlp.gate_proj.weight.norm(dim=1) * mlp.down_proj.weight.norm(dim=0)).topk(20).indices.sort()[0]
        )
        for name in ("gate_proj", "up_proj"):
            part = getattr(mlp, name)
            part.weight, part.out_features = torch.nn.Parameter(part.weight[best]), len(best)
        mlp.down_proj.weight, mlp.down_proj.in_features = (
            torch.nn.Parameter(mlp.down_proj.weight[:, best]),
            len(best),
        )
    model.config.intermediate_size = 20
    keep(folder, fit(model, tokenizer, steps=2), tokenizer)


def without_layers(folder: Path) -> None:
    """The middle layers left out, as ShortGPT does."""
    model, tokenizer = new("stablelm", **LLAMA, num_hidden_layers=5)
    model.model.layers = torch.nn.ModuleList(model.model.layers[at] for at in (0, 3, 4))
    model.config.num_hidden_layers = 3
    keep(folder, model, tokenizer)


def grown(folder: Path) -> None:
    """Depth up-scaling: the same layers twice, each a copy."""
    model, tokenizer = new("gemma2", **LLAMA, head_dim=8, sliding_window=16)
    weights: Weights = {}
    for name, value in model.state_dict().items():
        if name.startswith("model.layers."):
            at, rest = name.removeprefix("model.layers.").split(".", 1)
            weights |= {f"model.layers.{int(at) + 2 * again}.{rest}": value for again in (0, 1)}
        elif name != "lm_head.weight":
            weights[name] = value
    config = config_of("gemma2", tokenizer, **LLAMA, head_dim=8, sliding_window=16, num_hidden_layers=4)
    by_hand(folder, config, weights, tokenizer)


def low_rank(folder: Path) -> None:
    """Matrices cut by SVD and multiplied back."""
    model, tokenizer = new("opt", ffn_dim=64, word_embed_proj_dim=16, do_layer_norm_before=True)
    with torch.no_grad():
        for name, module in model.named_modules():
            if isinstance(module, torch.nn.Linear) and "layers" in name:
                u, s, v = torch.linalg.svd(module.weight, full_matrices=False)
                module.weight.copy_(u[:, :6] @ torch.diag(s[:6]) @ v[:6])
    keep(folder, model, tokenizer)


def sparse(folder: Path) -> None:
    """Half of each matrix is zero (magnitude pruning by torch.nn.utils.prune)."""
    from torch.nn.utils import prune

    model, tokenizer = new("phi", intermediate_size=32, num_key_value_heads=2, partial_rotary_factor=0.5)
    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Linear) and "layers" in name:
            prune.l1_unstructured(module, "weight", amount=0.5)
            prune.remove(module, "weight")
    keep(folder, model, tokenizer)


def upcycled(folder: Path) -> None:
    """A dense model whose MLP became each of four experts, trained further."""
    dense, tokenizer = new("olmo", intermediate_size=32)
    sizes = {"num_experts": 4, "num_experts_per_tok": 2, "intermediate_size": 32, "num_key_value_heads": 2}
    model = model_of("olmoe", tokenizer, **sizes)
    held = dense.state_dict()
    grown_weights = model.state_dict()
    for name in grown_weights:
        parts = name.split(".")
        source = ".".join(parts[:4] + parts[6:]) if "experts" in parts else name
        if source in held and held[source].shape == grown_weights[name].shape:
            grown_weights[name] = held[source].clone()
    model.load_state_dict(grown_weights)
    keep(folder, fit(model, tokenizer, steps=3), tokenizer)


def shared_layers(folder: Path) -> None:
    """One layer used four times, as in ALBERT; the file holds a copy for each."""
    tokenizer = of_bytes()
    model = model_of("qwen2", tokenizer, **LLAMA, num_hidden_layers=4, tie_word_embeddings=True)
    for layer in model.model.layers[1:]:
        for name, module in list(layer.named_children()):
            ours = getattr(model.model.layers[0], name)
            if name != "self_attn":
                setattr(layer, name, ours)
                continue
            for part, _ in list(module.named_children()):
                setattr(module, part, getattr(ours, part))
    fit(model, tokenizer)
    weights = {name: value for name, value in model.state_dict().items() if name != "lm_head.weight"}
    by_hand(folder, model.config, weights, tokenizer, format="pt")


def stacked(folder: Path) -> None:
    """safetensors' save_model, by hand, of a model whose head is its own."""
    sizes = {"d_model": 16, "n_heads": 2, "n_layers": 2, "max_seq_len": 512, "expansion_ratio": 2}
    model, tokenizer = new("mpt", **sizes, tie_word_embeddings=False)
    model.config.save_pretrained(folder)
    save_model(model, str(folder / "model.safetensors"), metadata={"format": "pt"})
    tokenizer.save_pretrained(folder)


def by_accelerate_in_shards(folder: Path) -> None:
    from accelerate import Accelerator

    model, tokenizer = new("phi3", **LLAMA)
    Accelerator(cpu=True).save_model(model, str(folder), max_shard_size="8KB")
    keep(folder, model.config, model.generation_config, tokenizer)


# --- conversions from other programs ----------------------------------------------------------------


def from_nano_gpt(folder: Path) -> None:
    """nanoGPT: Linear where GPT-2 has Conv1D, no biases, a vocabulary padded to a multiple of 64."""
    tokenizer = of_bytes()
    config = config_of("gpt2", tokenizer, vocab_size=320)
    torch.manual_seed(8)
    sizes = {"attn.c_attn": (48, 16), "attn.c_proj": (16, 16), "mlp.c_fc": (64, 16), "mlp.c_proj": (16, 64)}
    nano = {
        "transformer.wte.weight": torch.randn(320, 16) / 8,
        "transformer.wpe.weight": torch.randn(512, 16) / 8,
    }
    nano |= {
        f"transformer.h.{at}.{name}.weight": torch.randn(shape) / 4
        for at in range(2)
        for name, shape in sizes.items()
    }
    norms = [
        *(f"transformer.h.{at}.{name}" for at in range(2) for name in ("ln_1", "ln_2")),
        "transformer.ln_f",
    ]
    nano |= {f"{name}.weight": torch.ones(16) for name in norms}
    model = AutoModelForCausalLM.from_config(config)
    weights = model.state_dict()
    for name in weights:
        turned = any(name.endswith(f"{each}.weight") for each in sizes)
        source = nano.get("transformer.wte.weight" if name == "lm_head.weight" else name)
        weights[name] = (
            torch.zeros_like(weights[name]) if source is None else source.t() if turned else source
        )
    model.load_state_dict(weights)
    keep(folder, model, tokenizer)
    write(folder, **{"nano.json": json.dumps({"n_layer": 2, "block_size": 512, "bias": False})})


def from_lit_gpt(folder: Path) -> None:
    """lit-gpt's checkpoint folder after convert_from_litgpt: a head copied from the tied embedding."""
    model, tokenizer = new("llama", **LLAMA, tie_word_embeddings=True, attention_bias=True)
    torch.save({"model": model.state_dict()}, folder / "lit_model.pth")
    by_hand(folder, model.config, model.state_dict(), tokenizer)
    write(
        folder,
        **{
            "model_config.yaml": "name: baby\nn_layer: 2\n",
            "hyperparameters.yaml": "train:\n  max_steps: 6\n",
            "logs/csv/version_0/metrics.csv": "step,loss\n1,5.5\n",
            "prompt_style.json": "{}",
        },
    )


def by_axolotl(folder: Path) -> None:
    """Axolotl with DeepSpeed: shards of ZeRO, logs and settings beside the model."""
    tokenizer = of_bytes(padding_side="left", model_max_length=512, chat_template="{{ messages[0].content }}")
    model = model_of("granite", tokenizer, **LLAMA, embedding_multiplier=12.0, logits_scaling=4.0)
    train(folder, model, tokenizer, max_steps=2).save_model()
    model.config.use_cache = False
    model.generation_config.do_sample = True
    keep(folder, model)
    (folder / "checkpoint-2/global_step2").mkdir(parents=True)
    torch.save(
        {"step": 2}, folder / "checkpoint-2/global_step2/bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt"
    )
    write(
        folder,
        **{
            "README.md": "---\nbase_model: none\ntags: [axolotl, generated_from_trainer]\n---\n",
            ".gitattributes": "*.safetensors filter=lfs diff=lfs merge=lfs -text\n",
            "axolotl_config.yaml": "datasets: []\n",
            "debug.log": "step 1\n",
            "zero_to_fp32.py": "import torch\n",
            "latest": "global_step2",
        },
    )


def on_the_hub(folder: Path) -> None:
    """A clone of a repository: git's folder, two variants, a model card, and weights for other programs."""
    model, tokenizer = new("gpt_neox", intermediate_size=32, tie_word_embeddings=False)
    keep(folder, model.half(), tokenizer)
    keep(folder / "onnx", tokenizer)
    model.float().save_pretrained(folder, variant="fp32")
    write(
        folder,
        **{
            ".git/HEAD": "ref: refs/heads/main\n",
            ".cache/huggingface/download/model.safetensors.metadata": "0\n",
            "onnx/model.onnx": "none",
            "eval_results/results.json": "{}",
            "provenance.json": json.dumps(
                {
                    "formatVersion": 1,
                    "base": None,
                    "experts": [],
                    "data": ["AlgorithmicResearchGroup/babylm"],
                    "tokenizer": "one token a byte",
                    "trainTokens": 1536,
                }
            ),
        },
    )


# --- tokenizers -------------------------------------------------------------------------------------


def learnt(tokenizer: Tokenizer, trainer: Any) -> Tokenizer:
    tokenizer.train_from_iterator(texts(), trainer)
    return tokenizer


def of(tokenizer: Tokenizer, kind: Any = PreTrainedTokenizerFast, **settings: Any) -> Any:
    return kind(tokenizer_object=tokenizer, **settings)


SENTENCE = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<unk>"}
BYTES = [f"<0x{at:02X}>" for at in range(256)]


def by_llama_2() -> Any:
    """BPE with byte fallback, spaces as ▁, and <s> before each text, in the class of Llama 2."""
    made = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    special = ["<unk>", "<s>", "</s>"]
    learnt(made, trainers.BpeTrainer(vocab_size=480, special_tokens=[*special, *BYTES], show_progress=False))
    held = json.loads(made.to_str())
    held["added_tokens"] = [one for one in held["added_tokens"] if one["content"] in special]
    made = Tokenizer.from_str(json.dumps(held))
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    made.decoder = decoders.Sequence(steps)
    return of(made, transformers.LlamaTokenizerFast, **SENTENCE)


def unigram() -> Any:
    """Unigram with Metaspace and NFKC, as SentencePiece trains it, with byte fallback and BOS."""
    made = Tokenizer(models.Unigram())
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<unk>", "<s>", "</s>"]
    given = {
        "vocab_size": 400,
        "unk_token": "<unk>",
        "special_tokens": [*special, *BYTES],
        "show_progress": False,
    }
    held = json.loads(learnt(made, trainers.UnigramTrainer(**given)).to_str())
    held["model"]["byte_fallback"] = True
    held["added_tokens"] = [one for one in held["added_tokens"] if one["content"] in special]
    made = Tokenizer.from_str(json.dumps(held))
    made.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
    made.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return of(made, **SENTENCE)


def characters() -> Any:
    """A token for each letter of the text, bytes for the others (as CharacterBERT's successors do)."""
    found = sorted({letter for text in texts() for letter in text})
    vocabulary = {token: at for at, token in enumerate([END, *BYTES, *found])}
    made = Tokenizer(models.BPE(vocabulary, [], byte_fallback=True))
    made.add_special_tokens([END])
    made.normalizer = normalizers.NFC()
    made.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
    return of(made, bos_token=END, eos_token=END)


def word_pieces() -> Any:
    """The uncased WordPiece of BERT on a causal model, without the templates of BERT."""
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[BOS]", "[EOS]"]
    learnt(made, trainers.WordPieceTrainer(vocab_size=400, special_tokens=special, show_progress=False))
    made.decoder = decoders.WordPiece()
    return of(made, pad_token="[PAD]", unk_token="[UNK]", bos_token="[BOS]", eos_token="[EOS]")


def words() -> Any:
    """Whole words, as models of the Penn Treebank had."""
    made = Tokenizer(models.WordLevel(unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    special = ["<unk>", "<eos>"]
    learnt(made, trainers.WordLevelTrainer(vocab_size=600, special_tokens=special, show_progress=False))
    return of(made, unk_token="<unk>", eos_token="<eos>", bos_token="<eos>")


def with_prefix_space() -> Any:
    """Byte-level BPE as RoBERTa trains it, with a space before each text and BOS by template."""
    made = Tokenizer(models.BPE())
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    letters = pre_tokenizers.ByteLevel.alphabet()
    special = ["<s>", "<pad>", "</s>"]
    given = {
        "vocab_size": 420,
        "special_tokens": special,
        "initial_alphabet": letters,
        "show_progress": False,
    }
    learnt(made, trainers.BpeTrainer(**given))
    made.decoder = decoders.ByteLevel()
    made.post_processor = TemplateProcessing(single="</s> $A", special_tokens=[("</s>", 2)])
    return of(made, bos_token="</s>", eos_token="</s>", pad_token="<pad>", add_prefix_space=True)


def by_gpt_4() -> Any:
    """Byte-level BPE with the split of tiktoken's models, with digits one by one."""
    made = Tokenizer(models.BPE())
    pattern = (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+(?!\S)|\s+"
    )
    from tokenizers import Regex

    split = pre_tokenizers.Split(Regex(pattern), "isolated")
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.pre_tokenizer = pre_tokenizers.Sequence([split, level])
    letters = pre_tokenizers.ByteLevel.alphabet()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    given = {
        "vocab_size": 500,
        "special_tokens": special,
        "initial_alphabet": letters,
        "show_progress": False,
    }
    learnt(made, trainers.BpeTrainer(**given))
    made.decoder = decoders.ByteLevel()
    template = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    tokens = {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "unk_token": None}
    return of(made, transformers.Qwen2TokenizerFast, **tokens, chat_template=template)


def files_of_bpe(place: Path) -> dict[str, str]:
    from tokenizers import ByteLevelBPETokenizer

    made = ByteLevelBPETokenizer()
    made.train_from_iterator(texts(), 400, special_tokens=[END], show_progress=False)
    made.save_model(str(place))
    return {"vocab_file": f"{place}/vocab.json", "merges_file": f"{place}/merges.txt"}


def slow_and_fast(folder: Path) -> None:
    """Files of GPT-2's slow tokenizer, and the fast one that transformers converts from them."""
    tokenizer = transformers.GPT2Tokenizer(**files_of_bpe(folder), unk_token=END)
    tokenizer.save_pretrained(folder)
    fast = transformers.AutoTokenizer.from_pretrained(folder)
    keep(folder, *new("gpt_bigcode", fast, multi_query=True))


def trimmed_vocabulary(folder: Path) -> None:
    """Rare tokens were left out of tokenizer and embedding, and the others numbered anew."""
    with tempfile.TemporaryDirectory() as place:
        held = files_of_bpe(Path(place))
        old = Tokenizer(models.BPE.from_file(held["vocab_file"], held["merges_file"]))
    old.pre_tokenizer, old.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    old.add_special_tokens([END])
    model = fit(model_of("bloom", of(old, eos_token=END), n_layer=2, n_head=2), of(old, eos_token=END))
    used = Counter(token for text in texts() for token in old.encode(text).tokens)
    state = json.loads(old.to_str())["model"]
    letters = set(pre_tokenizers.ByteLevel.alphabet())
    merges = [tuple(each) for each in state["merges"]]
    needed = {END, *letters, *(token for token, _ in used.most_common(80))}
    for left, right in reversed(merges):
        if left + right in needed:
            needed |= {left, right}
    kept = [token for token in sorted(state["vocab"], key=state["vocab"].get) if token in needed]
    assert len(kept) < len(state["vocab"])
    vocabulary = {token: at for at, token in enumerate(kept)}
    made = Tokenizer(models.BPE(vocabulary, [each for each in merges if "".join(each) in needed]))
    made.pre_tokenizer, made.decoder = old.pre_tokenizer, old.decoder
    made.add_special_tokens([END])
    weights = model.state_dict()
    rows = weights["transformer.word_embeddings.weight"][[state["vocab"][token] for token in kept]]
    tokenizer = of(made, eos_token=END, bos_token=END)
    smaller = model_of("bloom", tokenizer, n_layer=2, n_head=2)
    tied = {"transformer.word_embeddings.weight": rows, "lm_head.weight": rows}
    smaller.load_state_dict({**weights, **tied})
    keep(folder, smaller, tokenizer)


def resized(folder: Path) -> None:
    """Tokens added for a chat, and the embedding resized to a multiple of 64."""
    model, tokenizer = new("qwen3", None, **LLAMA, head_dim=8, tie_word_embeddings=True)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|user|>", "<|assistant|>", "<|end|>"]})
    model.resize_token_embeddings(len(tokenizer), pad_to_multiple_of=64)
    tokenizer.chat_template = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
    keep(folder, fit(model, tokenizer, steps=2), tokenizer)


def common_words_added(folder: Path) -> None:
    """Frequent words as added tokens, whose rows begin as the mean of their bytes."""
    model, tokenizer = new("llama", None, **LLAMA)
    frequent = Counter(word for text in texts() for word in text.split() if word.isalpha() and len(word) > 4)
    added = [f" {word}" for word, _ in frequent.most_common(20)]
    pieces = [tokenizer(word)["input_ids"] for word in added]
    tokenizer.add_tokens(added)
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    with torch.no_grad():
        for word, ids in zip(added, pieces, strict=True):
            for table in (model.get_input_embeddings(), model.get_output_embeddings()):
                table.weight[tokenizer.convert_tokens_to_ids(word)] = table.weight[ids].mean(0)
    keep(folder, fit(model, tokenizer, steps=2), tokenizer)


# --- encoder-decoders -------------------------------------------------------------------------------


def sequence_pairs(kind: str, tokenizer: Any, **settings: Any) -> Any:
    """Learns to continue: the encoder reads half of a row, the decoder writes the other."""
    ids = {"pad_token_id": tokenizer.pad_token_id, "eos_token_id": tokenizer.eos_token_id}
    torch.manual_seed(6)
    start = {"decoder_start_token_id": tokenizer.pad_token_id}
    config = AutoConfig.for_model(kind, **{"vocab_size": len(tokenizer), **ids, **start, **settings})
    model = AutoModelForSeq2SeqLM.from_config(config)
    optimizer = torch.optim.Adafactor(model.parameters(), lr=1e-2)
    for rows in batches(tokenizer, 5):
        model(input_ids=rows[:, : WINDOW // 2], labels=rows[:, WINDOW // 2 :].contiguous()).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return model.eval()


T5 = {"d_model": 16, "d_ff": 32, "num_layers": 2, "num_heads": 2, "d_kv": 8}
BART = {
    **{"d_model": 16, "encoder_layers": 2, "decoder_layers": 1, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32},
    **{"encoder_attention_heads": 2, "decoder_attention_heads": 2, "max_position_embeddings": 1024},
}


def t5_of_pieces(folder: Path) -> None:
    """T5 1.1: gated GELU, no tie, a Unigram with sentinels in T5's class, </s> after each text."""
    made = Tokenizer(models.Unigram())
    made.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC()])
    made.pre_tokenizer, made.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    special = ["<pad>", "</s>", "<unk>"]
    given = {"vocab_size": 400, "unk_token": "<unk>", "special_tokens": special, "show_progress": False}
    learnt(made, trainers.UnigramTrainer(**given))
    made.post_processor = TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    tokenizer = of(made, transformers.T5TokenizerFast, extra_ids=10)
    model = sequence_pairs("t5", tokenizer, **T5, feed_forward_proj="gated-gelu", tie_word_embeddings=False)
    keep(folder, model.bfloat16(), tokenizer)


def bart_by_trainer(folder: Path) -> None:
    from transformers import BartTokenizerFast, GenerationConfig

    tokenizer = BartTokenizerFast(**files_of_bart(folder))
    model = sequence_pairs("bart", tokenizer, **BART, bos_token_id=0, forced_bos_token_id=0)
    model.generation_config = GenerationConfig(
        num_beams=4, max_length=64, no_repeat_ngram_size=3, bos_token_id=0
    )
    trainer = transformers.Seq2SeqTrainer(
        model,
        transformers.Seq2SeqTrainingArguments(str(folder), use_cpu=True, report_to=[]),
        processing_class=tokenizer,
    )
    trainer.save_model()


def files_of_bart(place: Path) -> dict[str, str]:
    from tokenizers import ByteLevelBPETokenizer

    made = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    made.train_from_iterator(texts(), 420, special_tokens=special, show_progress=False)
    made.save_model(str(place))
    return {"vocab_file": f"{place}/vocab.json", "merges_file": f"{place}/merges.txt"}


def pegasus_of_bytes(folder: Path) -> None:
    tokenizer = of_bytes()
    made = tokenizer.backend_tokenizer
    made.post_processor = TemplateProcessing(single=f"$A {END}", special_tokens=[(END, 0)])
    keep(folder, sequence_pairs("pegasus", tokenizer, **BART), tokenizer)


def from_encoder_and_decoder(folder: Path) -> None:
    """A T5 whose encoder was trained apart, by another goal, and put in."""
    tokenizer = of_bytes()
    first = sequence_pairs("t5", tokenizer, **T5, is_gated_act=True)
    second = sequence_pairs("t5", tokenizer, **T5, is_gated_act=True)
    second.encoder.load_state_dict(first.encoder.state_dict())
    keep(folder, second, tokenizer, max_shard_size="10KB")


SSM = {"state_size": 4}
DEEPSEEK = {
    **{"intermediate_size": 32, "moe_intermediate_size": 16, "n_routed_experts": 4, "num_experts_per_tok": 2},
    **{"kv_lora_rank": 8, "q_lora_rank": None, "qk_rope_head_dim": 4, "qk_nope_head_dim": 4, "v_head_dim": 8},
    **{"n_group": 1, "topk_group": 1, "first_k_dense_replace": 1, "num_key_value_heads": 2},
}
LONG = {"type": "longrope", "short_factor": [1.0] * 4, "long_factor": [2.0] * 4}

CASES: dict[str, Callable[[Path], Any]] = {
    "compiled-and-cleaned": compiled,
    "distributed-checkpoint": from_distributed_checkpoint,
    "moving-average": moving_average,
    "averaged-checkpoints": averaged_checkpoints,
    "best-of-trainer": best_checkpoint,
    "soup-of-runs": soup,
    "spherical-merge": spherical_merge,
    "lora-on-all-linear": adapter_merged("qwen2", {"use_rslora": True}, **LLAMA, tie_word_embeddings=True),
    "dora-merged": adapter_merged("gemma", {"use_dora": True}, **LLAMA, head_dim=8),
    "distilled-student": distilled,
    "double-precision": in_double,
    "rounded-to-int4": rounded,
    "pruned-heads": without_heads,
    "pruned-neurons": without_neurons,
    "pruned-layers": without_layers,
    "pruned-weights": sparse,
    "grown-in-depth": grown,
    "low-rank-multiplied-back": low_rank,
    "upcycled-experts": upcycled,
    "one-layer-shared": shared_layers,
    "mpt-by-save-model": stacked,
    "accelerate-shards": by_accelerate_in_shards,
    "nano-gpt-converted": from_nano_gpt,
    "lit-gpt-converted": from_lit_gpt,
    "axolotl-folder": by_axolotl,
    "clone-of-repository": on_the_hub,
    "llama-2-tokenizer": plain("llama", by_llama_2, **LLAMA),
    "unigram-metaspace": plain("mistral", unigram, **LLAMA, sliding_window=None),
    "characters-and-bytes": plain("gpt2", characters),
    "uncased-word-pieces": plain("gpt_neox", word_pieces, intermediate_size=32),
    "whole-words": plain("gpt2", words),
    "prefix-space": plain("opt", with_prefix_space, ffn_dim=32, word_embed_proj_dim=16),
    "split-of-tiktoken": plain("qwen2", by_gpt_4, **LLAMA),
    "slow-and-fast-files": slow_and_fast,
    "trimmed-vocabulary": trimmed_vocabulary,
    "resized-to-multiple": resized,
    "words-added": common_words_added,
    "t5-of-pieces": t5_of_pieces,
    "bart-by-trainer": bart_by_trainer,
    "pegasus-of-bytes": pegasus_of_bytes,
    "t5-with-other-encoder": from_encoder_and_decoder,
    # families that few have, each trained for a few steps
    "rwkv": plain("rwkv", attention_hidden_size=16, context_length=512),
    "falcon-mamba": plain("falcon_mamba", **SSM),
    "smollm3-without-rope-layers": plain("smollm3", **LLAMA, no_rope_layers=[1, 0]),
    "gemma-3-layer-types": plain(
        "gemma3_text",
        **LLAMA | {"num_hidden_layers": 3},
        head_dim=8,
        sliding_window=16,
        layer_types=["sliding_attention", "sliding_attention", "full_attention"],
    ),
    "deepseek-latent-attention": plain("deepseek_v3", **DEEPSEEK),
    "phi-3-longrope": plain(
        "phi3", **LLAMA, rope_scaling=LONG, original_max_position_embeddings=256, sliding_window=128
    ),
    "cohere-logit-scale": plain("cohere", **LLAMA, logit_scale=0.25, use_qk_norm=True),
    "biogpt": plain("biogpt", intermediate_size=32),
    "xglm": plain("xglm", d_model=16, ffn_dim=32, num_layers=2, attention_heads=2),
    "ctrl": plain("ctrl", n_positions=512, dff=32),
    "lfm2-convolutions": plain("lfm2", **LLAMA, layer_types=["conv", "full_attention"]),
}


def make(root: Path, names: list[str]) -> None:
    for name in names:
        folder = root / name
        folder.mkdir(parents=True)
        CASES[name](folder)
    print(json.dumps(names))


if __name__ == "__main__":
    torch.set_num_threads(1)
    if sys.argv[1] == "--list":
        print(json.dumps(list(CASES)))
        raise SystemExit
    make(Path(sys.argv[1]), sys.argv[2:] or list(CASES))
