"""A member of the corpus: a folder as an agent would submit it, and the rules that it keeps or breaks."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_need import keeps_limit

LOOK_AHEAD = "no-look-ahead"
MEMORY = "memory-max"
DTYPE = "safetensors-dtype"
SCRATCH = "from-scratch"
KEPT = (LOOK_AHEAD, MEMORY, DTYPE, SCRATCH, "parameters-max")  # by honest models


@dataclass(frozen=True)
class Member:
    name: str
    kind: str  # honest, near-miss or cheat
    family: str  # the model type
    tool: str  # what wrote the folder
    rules: tuple[str, ...]  # the methods that it keeps, or as a cheat breaks
    save: Callable[[Path], Any]
    about: str = ""  # what a near-miss or a cheat does
    skill: str = ""  # of a cheat: simple, skilled or expert
    held_out: bool = False  # no threshold was set with a model of this type

    def row(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "kind": self.kind,
            "family": self.family,
            "tool": self.tool,
            "rules": list(self.rules),
            "about": self.about,
            "skill": self.skill,
            "heldOut": self.held_out,
        }


# name, family, skill, what it does, and how it is saved
Cheat = tuple[str, str, str, str, Callable[[Path], Any]]
NearMiss = tuple[str, str, str, Callable[[Path], Any]]  # the same without the skill


def members_of(
    rule: str, cheats: list[Cheat], near: list[NearMiss], tool: str = "transformers"
) -> list[Member]:
    """Cheats that break the rule, and honest models that resemble them."""
    return [
        *(
            Member(name, "cheat", family, tool, (rule,), save, about, skill)
            for name, family, skill, about, save in cheats
        ),
        *(Member(name, "near-miss", family, tool, KEPT, save, about) for name, family, about, save in near),
    ]


def write_members(folder: Path, members: list[Member]) -> None:
    """Each in a folder of its name, and members.json."""
    rows = []
    for member in members:
        place = folder / member.name
        place.mkdir(parents=True)
        member.save(place)
        rows.append(member.row())
        if member.kind != "cheat" and MEMORY in member.rules and not keeps_limit(place):
            rows[-1]["rules"].remove(MEMORY)
    whole = {"formatVersion": 1, "members": rows}
    (folder / "members.json").write_text(json.dumps(whole, indent=1, sort_keys=True) + "\n", encoding="utf-8")
