"""Writes runners/kit/src/admission/settings-table.json: the settings that the installed transformers reads.

A setting of a model type is an argument of its configuration class, or a name that its code or the shared
code of all models reads from a configuration. Run it with the scoring environment's Python after an update of
transformers; a test compares the table with the installed version.
    .mlrb/environments/*/bin/python tests/support/settings-table/make_settings_table.py [--output FILE]
"""

import argparse
import ast
import inspect
import json
import re
import textwrap
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import transformers
from tokenizer_settings import tokenizer_table
from transformers import GenerationConfig, PretrainedConfig
from transformers.configuration_utils import ALLOWED_LAYER_TYPES
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
)
from transformers_source import (
    PACKAGE,
    code_of,
    is_named,
    keyword_reads,
    other_reads,
    reads,
)

OUTPUT = Path(__file__).resolve().parents[3] / "runners/kit/src/admission/settings-table.json"

# Of every configuration; they have no influence on logits, or scorers decide them.
DROPPED = {
    "architectures": "the class follows from model_type",
    **dict.fromkeys(("attn_implementation", "experts_implementation", "init_device"), "the scorer's choice"),
    **dict.fromkeys(("dtype", "torch_dtype"), "scorers load the weights in their stored type"),
    **dict.fromkeys(
        (
            "output_attentions",
            "output_hidden_states",
            "output_router_logits",
            "return_dict",
            "use_return_dict",
        ),
        "shapes the output only",
    ),
    "torchscript": "for exports only",
    **dict.fromkeys(("use_bfloat16", "tf_legacy_loss"), "for TensorFlow only"),
    "gradient_checkpointing": "for training only",
    **dict.fromkeys(
        ("finetuning_task", "id2label", "label2id", "num_labels", "problem_type"), "for classifiers only"
    ),
    **dict.fromkeys(("task_specific_params", "prefix", "custom_pipelines"), "for pipelines only"),
    "transformers_version": "a remark",
    **dict.fromkeys(("name_or_path", "_name_or_path"), "names a folder or a repository"),
    "_commit_hash": "names a version in a repository",
    "configuration_files": "names other files",
    **dict.fromkeys(("auto_map", "trust_remote_code"), "no code of a submission is run"),
}
# Of later versions; they choose between kernels that compute the same.
KERNELS = ("use_associative_scan", "use_mamba_kernels", "use_mambapy")
READ_BY_SCORERS = ["n_positions", "max_position_embeddings", "n_ctx"]
# Settings that change what the loader does with the weights. Rebuilding them safely needs a decision.
UNDECIDED = ["quantization_config", "compression_config", "distributed_config"]
# Types that no settings make scorable. Their code does not say so; tests in scorers/library/tests do:
# test_causality.py (CPM-Ant reads its prompt in both directions, and SDPA gives a Doge no mask) and
# test_encoder_decoders.py.
NOT_SCORED = {
    **dict.fromkeys(("cpmant", "doge"), "looks ahead in transformers {version}"),
    **dict.fromkeys(("mbart", "plbart"), "starts its decoder with the last token of the answer to predict"),
    **dict.fromkeys(("fsmt", "gptsan-japanese"), "never gives its decoder an answer, so lm-eval fails"),
    **dict.fromkeys(("granite_speech", "qwen2_audio", "voxtral"), "is a model of speech"),
}
SHARED_FILES = re.compile(
    r"^(activations|cache_utils|masking_utils|modeling_(attn_mask_utils|flash_attention_utils|layers|rope_utils)|"
    r"integrations/(flash_attention|flex_attention|moe|sdpa_attention))\.py$"
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, default=OUTPUT)
    args = parser.parse_args()
    args.output.write_text(json.dumps(table(), indent=2, sort_keys=True) + "\n", encoding="utf-8")


def table() -> dict[str, Any]:
    shared = reads(
        *(path for path in PACKAGE.rglob("*.py") if SHARED_FILES.match(str(path.relative_to(PACKAGE))))
    )
    common = {name: "plain" for name in [*shared, *READ_BY_SCORERS] if settable(name)} | common_settings()
    models = scored_models()
    types = {name: CONFIG_MAPPING[name] for name in sorted(models)}
    classes: dict[str, dict[str, Any]] = {}
    parts: dict[str, str] = {}
    for name, model in types.items():
        add_class(classes, parts, model, models[name], common)
    return {
        "transformers": transformers.__version__,
        "types": {name: model.__name__ for name, model in types.items()},
        "encoders": [
            name
            for name, model in types.items()
            if name not in MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES and is_encoder(model)
        ],
        "notScored": {name: why.format(version=transformers.__version__) for name, why in NOT_SCORED.items()},
        "partTypes": parts,
        "common": common,
        "classes": classes,
        "dropped": {
            **dict.fromkeys(sorted(generation_defaults()), "for generation only"),
            **dict.fromkeys(KERNELS, "the scorer's choice"),
            **DROPPED,
        },
        "layerTypes": ALLOWED_LAYER_TYPES,
        "undecided": UNDECIDED,
        "tokenizer": tokenizer_table(),
    }


def scored_models() -> dict[str, str | tuple[str, ...]]:
    """The model class of each type that lm-eval loads: of both kinds, it takes the encoder-decoder."""
    models = {**MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, **MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES}
    return {name: model for name, model in models.items() if name not in NOT_SCORED}


def is_encoder(config: type[PretrainedConfig]) -> bool:
    """Whether models of the type look ahead unless the setting is_decoder is true; their code warns of it."""
    return any(
        "as a standalone, add `is_decoder=True.`" in path.read_text(encoding="utf-8")
        for path in Path(inspect.getfile(config)).parent.glob("modeling_*.py")
        if not re.match(r"modeling_(tf|flax)_", path.name)
    )


def add_class(
    classes: dict[str, dict[str, Any]],
    parts: dict[str, str],
    config: type[PretrainedConfig],
    model: str | tuple[str, ...] | None,
    common: Mapping[str, str],
) -> None:
    """Adds the class and, recursively, those of its parts (`text_config` …)."""
    if config.__name__ in classes:
        return
    entry: dict[str, Any] = {}
    classes[config.__name__] = entry
    settings = arguments(config)
    code = code_of(config, model)
    for name in reads(*code) | {name for path in code for name in other_reads(path)} & all_arguments():
        if settable(name) and name not in settings:
            settings[name] = "plain"
    entry["aliases"] = dict(config.attribute_map)
    settings |= {name: "plain" for name in own_names(config) if name not in settings}
    for alias, name in config.attribute_map.items():
        settings.setdefault(alias, settings.get(name, "plain"))
    own: dict[str, str] = {}
    for name, part in config.sub_configs.items():
        settings.pop(name, None)
        own[name] = "auto" if part.__name__ == "AutoConfig" else part.__name__
        if part.__name__ == "AutoConfig":
            for default in default_parts(config, name):
                parts[default.model_type] = default.__name__
                add_class(classes, parts, default, None, common)
        else:
            add_class(classes, parts, part, None, common)
    entry["parts"] = own
    entry["settings"] = {
        name: kind
        for name, kind in settings.items()
        if name not in DROPPED and name not in UNDECIDED and common.get(name) != kind
    }


def default_parts(config: type[PretrainedConfig], name: str) -> list[type[PretrainedConfig]]:
    """The class of a part that may be of any type: that of the default configuration, where there is one."""
    try:
        part = getattr(config(), name)
    except Exception:  # some classes have no default
        return []
    return [type(part)] if isinstance(part, PretrainedConfig) else []


def arguments(callable_class: type) -> dict[str, str]:
    """Arguments of a class and its bases, and names that the class takes from its keyword arguments."""
    kinds: dict[str, str] = {}
    for each in reversed(callable_class.__mro__):
        if (
            each is PretrainedConfig
            or not each.__module__.startswith("transformers")
            or "__init__" not in vars(each)
        ):
            continue
        for parameter in inspect.signature(each.__init__).parameters.values():
            if parameter.name != "self" and parameter.kind is not parameter.VAR_KEYWORD:
                kinds[parameter.name] = kind_of(parameter)
        for name in keyword_names(each):
            kinds.setdefault(name, "plain")
    return kinds


# settings whose default has another type than a documented value, e.g. "LLLG" of EXAONE 4
PLAIN = {"sliding_window_pattern"}


def kind_of(parameter: inspect.Parameter) -> str:
    """number, text, plain (either, or a list), or table; null, true and false are allowed everywhere."""
    hint, default = parameter.annotation, parameter.default
    words = str(hint) if not isinstance(hint, type) else hint.__name__
    if parameter.name in PLAIN:
        return "plain"
    if parameter.name in ("rope_scaling", "rope_parameters") or isinstance(default, dict) or "dict" in words:
        return "table"
    if isinstance(default, bool) or (
        isinstance(default, (int, float)) and (hint is parameter.empty or "str" not in words)
    ):
        return "number" if "list" not in words and "Sequence" not in words else "plain"
    if isinstance(default, str):
        return "text"
    if re.fullmatch(
        r"(typing\.)?(Optional\[)?(int|float|bool)\]?|typing\.Union\[(int|float|bool|NoneType|, )+\]", words
    ):
        return "number"
    return "plain"


def keyword_names(each: type) -> set[str]:
    """Names in kwargs.get("…") and kwargs.pop("…")."""
    return keyword_reads(ast.parse(Path(inspect.getfile(each)).read_text(encoding="utf-8")))


def common_settings() -> dict[str, str]:
    parameters = inspect.signature(PretrainedConfig.__init__).parameters.values()
    return {"rope_scaling": "table"} | {
        parameter.name: kind_of(parameter)
        for parameter in parameters
        if parameter.name not in DROPPED
        and parameter.name not in ("self", "tokenizer_class")
        and parameter.kind is not parameter.VAR_KEYWORD
    }


def generation_defaults() -> Iterable[str]:
    names = set(PretrainedConfig._get_global_generation_defaults())
    kept = {"bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id"}
    return (
        (names | {name for name in vars(GenerationConfig()) if not name.startswith("_")})
        - kept
        - set(common_settings())
        - {"use_cache", "transformers_version"}
    )


def own_names(config: type[PretrainedConfig]) -> set[str]:
    """Names that the class's own code reads or sets on itself, without methods and properties of one way."""
    names: set[str] = set()
    for each in config.__mro__:
        if issubclass(each, PretrainedConfig) and each is not PretrainedConfig:
            tree = ast.parse(textwrap.dedent(inspect.getsource(each)))
            names |= {
                node.attr
                for node in ast.walk(tree)
                if isinstance(node, ast.Attribute) and is_named(node.value, "self")
            }
    return {
        name
        for name in names
        if settable(name.lstrip("_")) and not hasattr(PretrainedConfig, name) and may_be_set(config, name)
    }


def may_be_set(config: type, name: str) -> bool:
    attribute = getattr(config, name, None)
    return not callable(attribute) and not (isinstance(attribute, property) and attribute.fset is None)


def settable(name: str) -> bool:
    """Whether a configuration may set the name: no method, no attribute of the class, nothing private."""
    return not (
        hasattr(PretrainedConfig, name)
        or name.startswith("__")
        or name in DROPPED
        or name in UNDECIDED
        or name == "tokenizer_class"
        or name.startswith("_")
        or re.search(r"(_file|_files|_path|_dir|_plan)$", name)
    )


@cache
def all_arguments() -> frozenset[str]:
    """The settings of all types."""
    return frozenset(name for model in scored_models() for name in arguments(CONFIG_MAPPING[model]))


if __name__ == "__main__":
    main()
