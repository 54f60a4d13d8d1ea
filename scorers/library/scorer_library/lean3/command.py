"""Finds the Lean 3 that checks proofs: the command in scorer.yaml, which a stage gets as MLRB_SCORER_COMMAND.

scorers/lean3-compiles/image/Dockerfile builds its folder: PREFIX/bin/lean, PREFIX/lib/lean/library and
PREFIX/mathlib/src.
"""

import os
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from scorer_library.lean.command import START


class Lean3Missing(RuntimeError):
    """A Lean 3 that is named and missing, or that fails its checks: the stage fails."""


@dataclass(frozen=True)
class Lean3Command:
    words: tuple[str, ...]  # the first one is an absolute path
    prefixes: tuple[str, ...]  # the folders that its files were installed in

    def library(self) -> list[str]:
        """Where modules are found: Lean's own library and mathlib, by the layout of the image."""
        places = [
            Path(prefix, name) for prefix in self.prefixes for name in ("lib/lean/library", "mathlib/src")
        ]
        return [str(place) for place in places if place.is_dir()]

    def start(self, rules: list[str]) -> list[str]:
        """The command under the launcher's limits; Lean's flags follow."""
        return [*START, "--command", shlex.join(self.words), *rules, "--"]


def missing_command() -> str | None:
    """Why nothing can be measured where scorer.yaml names no command; None where it names one."""
    if os.environ.get("MLRB_SCORER_COMMAND", "").strip():
        return None
    return "scorer.yaml names no Lean 3 (command:); docs/paper.md says how to build and name one"


def find_lean3() -> Lean3Command:
    """Raises Lean3Missing, with a remedy, where the command cannot be used."""
    words = shlex.split(os.environ.get("MLRB_SCORER_COMMAND", ""))
    if not words:
        raise Lean3Missing(str(missing_command()))
    program = shutil.which(words[0])
    if program is None:
        raise Lean3Missing(f"{words[0]} is no program; correct command: in scorer.yaml")
    found = [str(Path(program).absolute()), *words[1:]]
    real = [os.path.realpath(found[0])]
    prefixes = [installed_in(Path(word)) for word in [*found, *real] if Path(word).is_absolute()]
    return Lean3Command(tuple(found), tuple(dict.fromkeys(prefixes)))


def installed_in(file: Path) -> str:
    """Of PREFIX/bin/NAME the prefix, of FOLDER/NAME the folder."""
    return str(file.parent.parent if file.parent.name == "bin" else file.parent)
