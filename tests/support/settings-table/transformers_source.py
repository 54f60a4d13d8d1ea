"""Finds the names of settings in the source of the installed transformers."""

import ast
import inspect
import re
from functools import cache
from pathlib import Path

import transformers
from transformers import PretrainedConfig

PACKAGE = Path(transformers.__file__).parent


def keyword_reads(tree: ast.AST) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="kwargs"), attr="get" | "pop"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                names.add(name)
    return names


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
        match node:
            case ast.ImportFrom(level=2, module=str(module)) if module.count(".") == 1:
                file = PACKAGE / "models" / (module.replace(".", "/") + ".py")
                if file.is_file() and not module.startswith("auto"):
                    found.add(file)
    return frozenset(found)


def reads(*paths: Path) -> set[str]:
    return set().union(*(names_read(path) for path in paths))


@cache
def names_read(path: Path) -> frozenset[str]:
    """Names that a file reads from configurations: config.NAME, getattr(self.config, "NAME", …) …"""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Attribute(value=base, attr=name) if is_config(base):
                names.add(name)
            case ast.Call(
                func=ast.Name(id="getattr" | "hasattr"), args=[base, ast.Constant(value=str(name)), *_]
            ) if is_config(base):
                names.add(name)
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


def is_config(node: ast.expr) -> bool:
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name.endswith("config") and not re.match(
        r"(generation|quantization|peft|training|awq|gptq)_", name
    )


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def init_arguments(node: ast.FunctionDef) -> set[str]:
    return {argument.arg for argument in [*node.args.args[1:], *node.args.kwonlyargs]}
