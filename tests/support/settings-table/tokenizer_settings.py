"""The tokenizers of the installed transformers: their classes, files and settings."""

import ast
import re
from typing import Any

from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES
from transformers_source import PACKAGE, init_arguments, is_named, is_text, keyword_reads

NAMES_A_FILE = re.compile(r"(_file|_files|_path|_dir|_object|_tokenizer)$|^_|^(vocab|merges)$")
TOKENIZER_DROPPED = {
    "name_or_path": "names a folder or a repository",
    **dict.fromkeys(
        ("chat_template", "grounded_generation_template", "tool_use_template"), "no scorer uses it"
    ),
    **dict.fromkeys(("processor_class", "processor"), "scorers read text only"),
    **dict.fromkeys(("sp_model_kwargs", "use_fast"), "scorers use the fast tokenizer"),
    **dict.fromkeys(("cache_dir", "subfolder"), "names a folder"),
    "init_inputs": "may name files",
    **dict.fromkeys(("device_map", "local_files_only"), "the scorer's choice"),
    **dict.fromkeys(("token", "use_auth_token"), "a key of a repository"),
    "revision": "names a version in a repository",
    **dict.fromkeys(("auto_map", "trust_remote_code"), "no code of a submission is run"),
}
ADDED_TOKEN_PARTS = ("content", "lstrip", "rstrip", "normalized", "single_word", "special")


def tokenizer_table() -> dict[str, Any]:
    """From the source, since tokenizers whose libraries are not installed cannot be imported."""
    names = {name for pair in TOKENIZER_MAPPING_NAMES.values() for name in pair if name}
    # a saved fast tokenizer is named without "Fast", and the loader adds the word again
    names |= {name.removesuffix("Fast") for name in names}
    files = {"tokenizer.json"}
    file_keys: set[str] = set()
    settings: set[str] = set()
    without_files: set[str] = set()
    for path in [*PACKAGE.glob("tokenization_*.py"), *PACKAGE.glob("models/*/tokenization_*.py")]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            match node:
                case ast.Assign(value=ast.Dict(keys=keys, values=values)) if "VOCAB_FILES_NAMES" in targets(
                    node
                ):
                    file_keys |= {key.value for key in keys if key is not None and is_text(key)}
                    files |= {value.value for value in values if is_text(value)}
                case ast.ClassDef(name=name) if reads_no_file(node):
                    without_files.add(name)
                case ast.FunctionDef(name="__init__"):
                    settings |= keyword_reads(node) | init_arguments(node)
    known = {
        name
        for name in settings - file_keys - set(TOKENIZER_DROPPED)
        if not NAMES_A_FILE.search(name) and name not in ADDED_TOKEN_PARTS
    }
    return {
        "classes": sorted(names | {"PreTrainedTokenizerFast", "PreTrainedTokenizer"}),
        "files": sorted(filter(plain_name, files)),
        "withoutFiles": sorted(without_files),
        "settings": sorted(known),
        "dropped": TOKENIZER_DROPPED,
    }


def reads_no_file(node: ast.ClassDef) -> bool:
    """Whether a tokenizer has its vocabulary in its code, e.g. that of bytes."""
    names = {name for part in node.body if isinstance(part, ast.Assign) for name in targets(part)}
    return (
        any(is_named(base, "PreTrainedTokenizer") for base in node.bases) and "vocab_files_names" not in names
    )


def targets(node: ast.Assign) -> set[str]:
    return {target.id for target in node.targets if isinstance(target, ast.Name)}


def plain_name(name: str) -> bool:
    """Only names of data: no code and nothing that a setting above rebuilds."""
    rebuilt = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "config.json")
    return (
        re.fullmatch(r"[A-Za-z0-9_.-]+\.(json|txt|model|spm|codes|tiktoken)", name) is not None
        and name not in rebuilt
    )
