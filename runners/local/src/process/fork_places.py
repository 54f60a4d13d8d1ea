"""Finds what libraries have noted at import of the folders they were imported in.

huggingface_hub, datasets and their like compute the folders of their caches once, from HOME. In a forked
job these are to be the job's own, so the warm process gets a home that no job has, and everything that
names it is found and pointed elsewhere.
"""

import gc
import types
from pathlib import PurePath
from typing import Any

# a table and a key of it, or a function and a position or name among its defaults
Place = tuple[Any, Any]


def places_below(home: str) -> list[Place]:
    """The places that hold a path at or below `home`: in any table, list or function's defaults."""
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
    # its type, and not isinstance: some objects answer to that by running code
    if issubclass(type(value), PurePath):
        value = str(value)
    return type(value) is str and (value == home or value.startswith(home + "/"))


def moved(value: Any, home: str, to: str) -> Any:
    return type(value)(to + str(value)[len(home) :])
