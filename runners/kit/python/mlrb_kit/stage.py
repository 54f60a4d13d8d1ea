"""Reads the inputs of a stage script, like kit's stage.ts.

The runner writes one JSON file and names it in MLRB_STAGE. By hand the same script runs from flags:
    python SCRIPT --param NAME=VALUE --input NAME=PATH --output NAME=PATH --secret-seed HEX
"""

import argparse
import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FORMAT = 1


@dataclass(frozen=True)
class Stage:
    name: str  # the stage instance, or "this stage" by hand
    params: dict[str, Any]
    inputs: dict[str, Path]  # absolute
    outputs: dict[str, Path]  # absolute
    files: list[str] | None  # patterns of its declared repository files; None by hand: all are allowed
    secret_seed: str | None = None  # in hex, for a stage that declares secretSeed
    limits: dict[str, float] = field(default_factory=dict)  # timeMs and memoryBytes, where it has them

    def param(self, name: str) -> Any:
        return self._named("param", self.params, name)

    def input(self, name: str) -> Path:
        return self._named("input", self.inputs, name)

    def output(self, name: str) -> Path:
        return self._named("output", self.outputs, name)

    def _named(self, kind: str, values: dict[str, Any], name: str) -> Any:
        if name not in values:
            known = ", ".join(values) or "none"
            place = "`generate` in task.yaml" if name == "answers" else "it in the pipeline"
            raise SystemExit(f'{self.name} has no {kind} "{name}" (it has: {known}); declare {place}')
        return values[name]

    def source_file(self, path: str) -> Path:
        """Absolute path of a repository file that the stage uses; ends the script if it is not declared."""
        absolute = Path(path).resolve()
        inside = os.path.relpath(absolute)
        if self.files is not None and not any(matches(inside, pattern) for pattern in self.files):
            raise SystemExit(
                f"{self.name} uses {inside}, which its files: does not name; add it in the pipeline, "
                "or a change of it would go unnoticed"
            )
        return absolute


def read_stage() -> Stage:
    """Ends the script with a message if the context has another format."""
    file = os.environ.get("MLRB_STAGE")
    if not file:
        return from_flags()
    context = json.loads(Path(file).read_text(encoding="utf-8"))
    if context["formatVersion"] != FORMAT:
        found = context["formatVersion"]
        raise SystemExit(f"{file}: stage context of format {found}; this kit reads format {FORMAT}")
    paths = {
        kind: {name: Path(path) for name, path in context[kind].items()} for kind in ("inputs", "outputs")
    }
    return Stage(
        context["stage"],
        context["params"],
        paths["inputs"],
        paths["outputs"],
        context["files"],
        context.get("secretSeed"),
        context.get("limits", {}),
    )


def from_flags() -> Stage:
    parser = argparse.ArgumentParser(description="By hand: everything that the pipeline would give it.")
    for flag in ("param", "input", "output"):
        parser.add_argument(f"--{flag}", action="append", default=[], metavar="NAME=VALUE", type=pair)
    parser.add_argument("--secret-seed", metavar="HEX", help="of a stage that draws at random")
    given = parser.parse_args()
    params = {name: scalar(value) for name, value in given.param}
    inputs = {name: Path(value).resolve() for name, value in given.input}
    outputs = {name: Path(value).resolve() for name, value in given.output}
    return Stage("this stage", params, inputs, outputs, None, given.secret_seed)


def pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f'expected NAME=VALUE, got "{text}"')
    return name, value


def scalar(text: str) -> Any:
    """The value of a flag as YAML reads it: JSON if it is JSON, else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def matches(path: str, pattern: str) -> bool:
    """As Node's matchesGlob for the patterns of `files:`: `*` and `?` stay within a folder, `**` does not."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    meaning = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.fullmatch("".join(meaning.get(part, re.escape(part)) for part in parts), path) is not None
