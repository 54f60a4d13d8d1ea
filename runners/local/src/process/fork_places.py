"""Finds the paths that libraries store at import and that depend on HOME.

huggingface_hub, datasets and similar libraries compute their cache folders once, from HOME. A
forked job needs its own folders. The warm process therefore has a home that no job uses, and
every stored path below that home is found and redirected.
"""

import gc
import types
from pathlib import PurePath
from typing import Any

# a table and its key, or a function and a position or name among its defaults
Place = tuple[Any, Any]


def places_below(home: str) -> list[Place]:
    """The places that hold a path at or below `home`: in tables, lists or functions' defaults."""
    found: list[Place] = []
    for thing in gc.get_objects():
        if type(thing) is dict:
            found += [(thing, key) for key, value in thing.items() if is_path_below(value, home)]
        elif type(thing) is list:
            found += [(thing, at) for at, value in enumerate(thing) if is_path_below(value, home)]
        elif type(thing) is types.FunctionType and any(
            is_path_below(value, home) for value in thing.__defaults__ or ()
        ):
            found.append((thing, None))
    return found


def point(places: list[Place], home: str, to: str) -> None:
    for thing, key in places:
        if type(thing) is types.FunctionType:
            thing.__defaults__ = tuple(
                moved(value, home, to) if is_path_below(value, home) else value
                for value in thing.__defaults__
            )
        elif is_path_below(thing[key], home):
            thing[key] = moved(thing[key], home, to)


def is_path_below(value: Any, home: str) -> bool:
    # its type, not isinstance: some objects run code to answer isinstance
    if issubclass(type(value), PurePath):
        value = str(value)
    return type(value) is str and (value == home or value.startswith(home + "/"))


def moved(value: Any, home: str, to: str) -> Any:
    return type(value)(to + str(value)[len(home) :])
