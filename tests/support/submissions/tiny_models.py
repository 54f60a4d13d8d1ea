"""Makes a tiny random model of every type that lm-eval loads, and compares folders of models.

python tiny_models.py make FOLDER PART OF  a folder for each type of a part; prints those that it cannot make
python tiny_models.py compare FOLDER    FOLDER/TYPE against FOLDER/TYPE.clean: settings and logits
python tiny_models.py open FOLDER…      what a loader makes of each: ids of a text, or how it fails
"""

import inspect
import json
import os
import signal
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="critical", TOKENIZERS_PARALLELISM="false")
warnings.filterwarnings("ignore")

import torch  # noqa: E402
from transformers import AutoConfig, AutoTokenizer, PretrainedConfig  # noqa: E402
from transformers.models.auto.configuration_auto import CONFIG_MAPPING  # noqa: E402
from transformers.models.auto.modeling_auto import (  # noqa: E402
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
)

from mlrb_kit.submission import Submission, is_encoder_decoder, loader_of  # noqa: E402

PARAMETERS_MAX = 3_000_000
SECONDS_MAX = 15
VOCABULARY = 304

# By the names of settings; most types share them. Sizes are divisible by each other as the types want it.
SMALL: dict[str, int] = {
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "emb_dim", "dim", "word_embed_proj_dim"), 32),
    **dict.fromkeys(
        ("embedding_size", "input_embedding_size", "embedding_dim", "lru_width", "dim_model"), 32
    ),
    **dict.fromkeys(("intermediate_size", "n_inner", "ffn_dim", "d_ff", "dim_ff", "ffn_hidden_size"), 64),
    **dict.fromkeys(("decoder_ffn_dim", "encoder_ffn_dim", "dff", "d_inner", "intermediate_size_mlp"), 64),
    **dict.fromkeys(
        ("moe_intermediate_size", "shared_expert_intermediate_size", "expert_ffn_hidden_size"), 16
    ),
    **dict.fromkeys(("shared_intermediate_size", "feed_forward_size", "attention_hidden_size"), 32),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_blocks"), 2),
    **dict.fromkeys(("decoder_layers", "encoder_layers", "num_decoder_layers", "num_encoder_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads"), 4),
    **dict.fromkeys(("decoder_attention_heads", "encoder_attention_heads"), 4),
    **dict.fromkeys(("num_key_value_heads", "num_kv_heads", "n_kv_heads"), 2),
    **dict.fromkeys(("num_decoder_attention_heads", "num_encoder_attention_heads"), 4),
    **dict.fromkeys(("vocab_size", "n_words", "decoder_vocab_size"), VOCABULARY),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length"), 64),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"), 4),
    **dict.fromkeys(("num_experts_per_tok", "moe_topk", "moe_k", "num_experts_per_token"), 2),
    **dict.fromkeys(
        ("head_dim", "d_kv", "attention_head_dim", "v_head_dim", "qk_nope_head_dim", "d_head"), 8
    ),
    **dict.fromkeys(("qk_rope_head_dim", "rotary_dim"), 4),
    **dict.fromkeys(("kv_lora_rank", "q_lora_rank", "n_group", "topk_group"), 4),
    **dict.fromkeys(("mamba_d_state", "state_size", "mamba_d_conv", "conv_kernel"), 4),
    **dict.fromkeys(("n_groups", "mamba_n_groups", "n_mamba_heads", "moe_num_shared_experts"), 1),
    **dict.fromkeys(("mamba_n_heads", "mamba_num_heads"), 8),
    **dict.fromkeys(("mamba_d_head", "mamba_head_dim"), 8),
    **dict.fromkeys(("bos_token_id", "decoder_start_token_id"), 0),
    "eos_token_id": 1,
    "pad_token_id": 2,
}


PART = {name: SMALL[name] for name in ("hidden_size", "intermediate_size", "num_hidden_layers", "vocab_size")}
PART |= {"num_attention_heads": 4, "max_position_embeddings": 64}
GEMMA = {"num_key_value_heads": 2, "head_dim": 8, "bos_token_id": 0, "pad_token_id": 2, "eos_token_id": 1}

# What some types want in addition.
ADJUSTED: dict[str, dict[str, Any]] = {
    "dots1": {"n_shared_experts": 1, "n_routed_experts": 4, "n_group": 1, "topk_group": 1},
    "encoder-decoder": {
        "encoder": {"model_type": "bert", **PART},
        "decoder": {"model_type": "bert", **PART, "is_decoder": True, "add_cross_attention": True},
        "pad_token_id": 2,
    },
    "falcon_h1": {"mamba_d_ssm": 64, "mamba_n_heads": 8, "mamba_d_head": 8},
    "glm4_moe": {"n_group": 1, "topk_group": 1},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
    "granitemoehybrid": {"layer_types": ["mamba", "attention"]},
    "jamba": {"use_mamba_kernels": False, "attn_layer_period": 2, "attn_layer_offset": 1},
    "longcat_flash": {"qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "head_dim": 8, "zero_expert_num": 2},
    "mamba2": {"num_heads": 8, "head_dim": 8, "n_groups": 1},
    "qwen3_next": {"num_hidden_layers": 4},
    "reformer": {"is_decoder": True, "axial_pos_shape": [8, 8], "axial_pos_embds_dim": [16, 16]},
    "t5gemma": {"encoder": {**PART, **GEMMA}, "decoder": {**PART, **GEMMA}, "vocab_size": VOCABULARY},
    "xmod": {"default_language": "en_XX"},
}


def main() -> None:
    action, folder = sys.argv[1], Path(sys.argv[2])
    torch.set_num_threads(2)
    if action == "make":
        made, skipped = [], {}
        part, of = map(int, sys.argv[3:])
        names = sorted({*MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, *MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES})
        for name in sorted({*names[part::of], "gpt2"}):
            if why := attempted(name, folder / name):
                skipped[name] = why
            else:
                made.append(name)
        print(json.dumps({"made": made, "skipped": skipped}))
    elif action == "open":
        print(json.dumps([opened(Path(each)) for each in sys.argv[2:]]))
    else:
        names = sorted(path.name for path in folder.iterdir() if (folder / f"{path.name}.clean").is_dir())
        found = {name: difference(folder / name, folder / f"{name}.clean") for name in names}
        print(json.dumps({name: what for name, what in found.items() if what}))


def attempted(name: str, folder: Path) -> str:
    """Makes the model. Returns why it cannot be made; an empty text if it was."""
    signal.signal(signal.SIGALRM, too_slow)
    signal.alarm(SECONDS_MAX)
    try:
        torch.manual_seed(0)
        kind = CONFIG_MAPPING[name]
        decoder = {"is_decoder": True} if name in table()["encoders"] else {}
        config = kind(**{**small(kind), **decoder, **ADJUSTED.get(name, {})})
        if config.decoder_start_token_id is None:
            config.decoder_start_token_id = SMALL["decoder_start_token_id"]
        with torch.device("meta"):
            size = sum(each.numel() for each in loader_of(config).from_config(config).parameters())
        if size > PARAMETERS_MAX:
            return f"{size} parameters, although its known sizes are small"
        model = loader_of(config).from_config(config).eval()
        logits(model)
        model.save_pretrained(folder)
    except BaseException as error:  # a type that these sizes do not fit
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return f"{type(error).__name__}: {error}".splitlines()[0][:160]
    finally:
        signal.alarm(0)
    return ""


def too_slow(*_: object) -> None:
    raise TimeoutError(f"over {SECONDS_MAX} s")


def small(config: type[PretrainedConfig]) -> dict[str, Any]:
    """Settings of small sizes and, where a number is free, of other numbers than the class's own."""
    given: dict[str, Any] = {}
    for parameter in inspect.signature(config.__init__).parameters.values():
        name, default = parameter.name, parameter.default
        if name in config.sub_configs and config.sub_configs[name].__name__ != "AutoConfig":
            given[name] = small(config.sub_configs[name])
        elif name in SMALL and not (default is None and name == "q_lora_rank"):
            given[name] = SMALL[name]
        elif isinstance(default, float) and any(
            word in name for word in ("eps", "theta", "multiplier", "scal")
        ):
            given[name] = default * 1.25
    return given


def logits(model: Any) -> Any:
    torch.manual_seed(0)
    with torch.inference_mode():
        both = is_encoder_decoder(model.config)
        submission = Submission(model, None, 0, VOCABULARY, None, encoder_decoder=both)
        return submission.next_logits([list(range(3, 19))])


# A clean folder leaves these out (settings-table.json, `dropped`).
def settings(config: PretrainedConfig, left_out: Iterable[str]) -> Any:
    def kept(value: Any) -> Any:
        if isinstance(value, dict):
            return {str(key): kept(inner) for key, inner in value.items() if key not in left_out}
        return [kept(item) for item in value] if isinstance(value, (list, tuple)) else value

    return kept(config.to_dict())


def difference(before: Path, after: Path) -> str:
    """The first difference that a loader sees; an empty text if there is none."""
    dropped = {*table()["dropped"], "dtype", "torch_dtype"}
    own, clean = (AutoConfig.from_pretrained(folder, local_files_only=True) for folder in (before, after))
    first, second = settings(own, dropped), settings(clean, dropped)
    for name in sorted({*first, *second}):
        if first.get(name) != second.get(name) or type(first.get(name)) is not type(second.get(name)):
            return f"{name}: {first.get(name)!r}, and clean {second.get(name)!r}"
    results = [logits(load(folder)) for folder in (before, after)]
    return "" if torch.equal(*results) else "other logits"


def opened(folder: Path) -> dict[str, Any]:
    """Ids of a text, and the attention that the settings ask for, as transformers alone loads them."""
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
        ids = tokenizer.encode("ab", add_special_tokens=False)
        return {"ids": ids, "attention": config._attn_implementation}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:300]}


def load(folder: Path) -> Any:
    config = AutoConfig.from_pretrained(folder, local_files_only=True)
    return (
        loader_of(config)
        .from_pretrained(
            folder, dtype=torch.float32, use_safetensors=True, local_files_only=True, trust_remote_code=False
        )
        .eval()
    )


def table() -> dict[str, Any]:
    path = Path(__file__).parents[3] / "runners/kit/src/admission/settings-table.json"
    return json.loads(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
