"""Digests Python files by behavior: the syntax tree without comments, formatting, docstrings and
annotations. Reads paths as a JSON list on standard input, writes {path: digest or null} as JSON.
null: the file cannot be parsed, and the caller uses its bytes.

A docstring stays if the module may read it (`__doc__`, click and the like). An annotation stays if
the module may read it at run time (dataclasses, typed dictionaries, get_type_hints and the like).
"""

import ast
import hashlib
import json
import sys
from pathlib import Path

READS_ANNOTATIONS = (
    "dataclass",
    "NamedTuple",
    "TypedDict",
    "get_type_hints",
    "__annotations__",
    "annotationlib",
    "get_annotations",
    "signature",
    "pydantic",
    "attrs",
    "singledispatch",
    "typer",
    "beartype",
    "jaxtyping",
)

READS_DOCSTRINGS = ("__doc__", "getdoc", "click", "typer", "fire", "docopt")


def syntax_digest(source: bytes) -> str:
    """Returns the digest of a module's syntax tree. Raises SyntaxError or ValueError if it has none."""
    tree = ast.parse(source)
    names = {name for node in ast.walk(tree) for name in names_in(node)}
    if not any(mark in name for mark in READS_DOCSTRINGS for name in names):
        drop_idle_texts(tree)
    if not any(mark in name for mark in READS_ANNOTATIONS for name in names):
        tree = WithoutAnnotations().visit(tree)
    digest = hashlib.sha256()
    feed(digest, tree)
    return digest.hexdigest()


def names_in(node: ast.AST) -> list[str]:
    """Returns every identifier and short text in a node: code may find a name by its text."""
    return [value for _, value in ast.iter_fields(node) if isinstance(value, str) and len(value) < 200]


def drop_idle_texts(tree: ast.Module) -> None:
    """Removes statements that are only a text, including docstrings: they have no effect."""
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if field in ("body", "orelse", "finalbody") and isinstance(value, list):
                kept = [statement for statement in value if not is_text(statement)]
                if field == "body" and not kept and not isinstance(node, ast.Module):
                    kept = [ast.Pass()]
                setattr(node, field, kept)


def is_text(statement: ast.AST) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


class WithoutAnnotations(ast.NodeTransformer):
    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = None
        self.generic_visit(node)
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        node.returns = None
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        self.generic_visit(node)
        if node.value is not None and node.simple:
            return ast.Assign(targets=[node.target], value=node.value)
        # without a value, the annotation still makes the name local
        node.annotation = ast.Constant(value=None)
        return node


def feed(digest: "hashlib._Hash", value: object) -> None:
    """Adds a tree to the digest. Omits empty fields, because Python versions differ in them."""
    if isinstance(value, ast.AST):
        digest.update(b"(" + type(value).__name__.encode())
        for field, item in ast.iter_fields(value):
            # only a Constant holds None as a value
            is_value = isinstance(value, ast.Constant) and field == "value"
            if not is_value and (field in ("ctx", "kind", "type_comment") or item is None or item == []):
                continue
            digest.update(b" " + field.encode() + b"=")
            feed(digest, item)
        digest.update(b")")
    elif isinstance(value, list):
        digest.update(b"[")
        for item in value:
            feed(digest, item)
            digest.update(b",")
        digest.update(b"]")
    else:
        text = f"{type(value).__name__}:{value!r}".encode("utf-8", "backslashreplace")
        digest.update(str(len(text)).encode() + b":" + text)


def main() -> None:
    digests: dict[str, str | None] = {}
    for path in json.load(sys.stdin):
        try:
            digests[path] = syntax_digest(Path(path).read_bytes())
        except (SyntaxError, ValueError, RecursionError, MemoryError, OSError):
            digests[path] = None
    json.dump(digests, sys.stdout)


if __name__ == "__main__":
    main()
