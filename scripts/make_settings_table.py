"""Writes runners/kit/src/admission/settings-table.json: the settings that the installed transformers reads.

A setting of a model type is an argument of its configuration class, or a name that its code or the shared
code of all models reads from a configuration. Run it with the scoring environment's Python after an update of
transformers; a test compares the table with the installed version.
    .mlrb/environments/*/bin/python scripts/make_settings_table.py [--output FILE]
"""

import argparse
import ast
import inspect
import json
import re
import textwrap
import typing
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import transformers
from transformers import GenerationConfig, PretrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

PACKAGE = Path(transformers.__file__).parent
OUTPUT = Path(__file__).parent.parent / "runners/kit/src/admission/settings-table.json"

# Of every configuration; they have no influence on logits, or scorers decide them.
DROPPED = {
    "architectures": "the class follows from model_type",
    "attn_implementation": "the scorer's choice",
    "experts_implementation": "the scorer's choice",
    "dtype": "scorers load the weights in their stored type",
    "torch_dtype": "scorers load the weights in their stored type",
    "output_attentions": "shapes the output only",
    "output_hidden_states": "shapes the output only",
    "output_router_logits": "shapes the output only",
    "return_dict": "shapes the output only",
    "use_return_dict": "shapes the output only",
    "torchscript": "for exports only",
    "use_bfloat16": "for TensorFlow only",
    "tf_legacy_loss": "for TensorFlow only",
    "gradient_checkpointing": "for training only",
    "finetuning_task": "for classifiers only",
    "id2label": "for classifiers only",
    "label2id": "for classifiers only",
    "num_labels": "for classifiers only",
    "problem_type": "for classifiers only",
    "task_specific_params": "for pipelines only",
    "prefix": "for pipelines only",
    "transformers_version": "a remark",
    "name_or_path": "names a folder or a repository",
    "_name_or_path": "names a folder or a repository",
    "_commit_hash": "names a version in a repository",
    "configuration_files": "names other files",
    "init_device": "the scorer's choice",
}
NAMES_A_FILE = re.compile(r"(_file|_files|_path|_dir|_object|_tokenizer)$|^_|^(vocab|merges)$")
TOKENIZER_DROPPED = {
    "name_or_path": "names a folder or a repository",
    "chat_template": "no scorer uses it",
    "processor_class": "scorers read text only",
    "processor": "scorers read text only",
    "grounded_generation_template": "no scorer uses it",
    "tool_use_template": "no scorer uses it",
    "sp_model_kwargs": "scorers use the fast tokenizer",
    "cache_dir": "names a folder",
    "init_inputs": "may name files",
    "device_map": "the scorer's choice",
    "use_fast": "scorers use the fast tokenizer",
    "token": "a key of a repository",
    "use_auth_token": "a key of a repository",
    "revision": "names a version in a repository",
    "subfolder": "names a folder",
    "local_files_only": "the scorer's choice",
}
READ_BY_SCORERS = ["n_positions", "max_position_embeddings", "n_ctx"]
ADDED_TOKEN_PARTS = ("content", "lstrip", "rstrip", "normalized", "single_word", "special")
# Settings that change what the loader does with the weights. Rebuilding them safely needs a decision.
UNDECIDED = ["quantization_config", "compression_config", "distributed_config"]
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
    types = {name: CONFIG_MAPPING[name] for name in sorted(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)}
    classes: dict[str, dict[str, Any]] = {}
    parts: dict[str, str] = {}
    for name, model in types.items():
        add_class(classes, parts, model, MODEL_FOR_CAUSAL_LM_MAPPING_NAMES[name], common)
    return {
        "transformers": transformers.__version__,
        "types": {name: model.__name__ for name, model in types.items()},
        "partTypes": parts,
        "common": common,
        "classes": classes,
        "dropped": {**dict.fromkeys(sorted(generation_defaults()), "for generation only"), **DROPPED},
        "undecided": UNDECIDED,
        "tokenizer": tokenizer_table(),
    }


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


def keyword_reads(tree: ast.AST) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("get", "pop")
        ):
            base = node.func.value
            if isinstance(base, ast.Name) and base.id == "kwargs" and node.args and is_text(node.args[0]):
                names.add(typing.cast(Any, node.args[0]).value)
    return names


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
        or name in ("tokenizer_class", "auto_map", "trust_remote_code")
        or name.startswith("_")
        or re.search(r"(_file|_files|_path|_dir|_plan)$", name)
    )


def code_of(config: type[PretrainedConfig], model: str | tuple[str, ...] | None) -> list[Path]:
    """The configuration's file, its model's, and those of other models that they import."""
    start = {Path(inspect.getfile(config))}
    folder = Path(inspect.getfile(config)).parent
    start |= set(folder.glob("modeling_*.py"))
    for name in [model] if isinstance(model, str) else model or ():
        start.add(Path(inspect.getfile(getattr(transformers, name))))
    found: set[Path] = set()
    while start:
        path = start.pop()
        if path in found or re.search(r"modeling_(tf|flax)_", path.name):
            continue
        found.add(path)
        start |= sibling_imports(path)
    return sorted(found)


@cache
def sibling_imports(path: Path) -> frozenset[Path]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.ImportFrom)
            and node.level == 2
            and node.module
            and node.module.count(".") == 1
        ):
            file = PACKAGE / "models" / (node.module.replace(".", "/") + ".py")
            if file.is_file() and not node.module.startswith("auto"):
                found.add(file)
    return frozenset(found)


def reads(*paths: Path) -> set[str]:
    return set().union(*(names_read(path) for path in paths))


@cache
def names_read(path: Path) -> frozenset[str]:
    """Names that a file reads from configurations: config.NAME, getattr(self.config, "NAME", …) …"""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and is_config(node.value):
            names.add(node.attr)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("getattr", "hasattr")
            and len(node.args) >= 2
            and is_config(node.args[0])
            and is_text(node.args[1])
        ):
            names.add(typing.cast(Any, node.args[1]).value)
    return frozenset(names)


@cache
def other_reads(path: Path) -> frozenset[str]:
    """Names read from objects that may be a configuration under another name: not from self or an import."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {
        (alias.asname or alias.name).split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    return frozenset(
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, (ast.Name, ast.Attribute))
        and root_of(node) not in imported
        and not is_named(node.value, "self")
    )


def root_of(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


@cache
def all_arguments() -> frozenset[str]:
    """The settings of all types."""
    return frozenset(
        name for model in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES for name in arguments(CONFIG_MAPPING[model])
    )


def is_config(node: ast.expr) -> bool:
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name.endswith("config") and not re.match(
        r"(generation|quantization|peft|training|awq|gptq)_", name
    )


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def tokenizer_table() -> dict[str, Any]:
    """From the source, since tokenizers whose libraries are not installed cannot be imported."""
    names = {name for pair in TOKENIZER_MAPPING_NAMES.values() for name in pair if name}
    # a saved fast tokenizer is named without "Fast", and the loader adds the word again
    names |= {name.removesuffix("Fast") for name in names}
    files = {"tokenizer.json"}
    file_keys: set[str] = set()
    settings: set[str] = set()
    for path in [*PACKAGE.glob("tokenization_*.py"), *PACKAGE.glob("models/*/tokenization_*.py")]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and any(
                is_named(each, "VOCAB_FILES_NAMES") for each in node.targets
            ):
                pairs = (
                    zip(node.value.keys, node.value.values, strict=True)
                    if isinstance(node.value, ast.Dict)
                    else ()
                )
                for key, value in pairs:
                    file_keys |= {key.value} if key is not None and is_text(key) else set()
                    files |= {value.value} if is_text(value) else set()
            elif isinstance(node, ast.FunctionDef) and node.name == "__init__":
                settings |= keyword_reads(node) | init_arguments(node)
    known = {
        name
        for name in settings - file_keys - set(TOKENIZER_DROPPED)
        if not NAMES_A_FILE.search(name) and name not in ADDED_TOKEN_PARTS
    }
    return {
        "classes": sorted(names | {"PreTrainedTokenizerFast", "PreTrainedTokenizer"}),
        "files": sorted(filter(plain_name, files)),
        "settings": sorted(known),
        "dropped": TOKENIZER_DROPPED,
    }


def init_arguments(node: ast.FunctionDef) -> set[str]:
    return {argument.arg for argument in [*node.args.args[1:], *node.args.kwonlyargs]}


def is_named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def plain_name(name: str) -> bool:
    """Only names of data: no code and nothing that a setting above rebuilds."""
    rebuilt = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "config.json")
    return (
        re.fullmatch(r"[A-Za-z0-9_.-]+\.(json|txt|model|spm|codes|tiktoken)", name) is not None
        and name not in rebuilt
    )


if __name__ == "__main__":
    main()
