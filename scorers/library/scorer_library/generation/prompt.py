"""The prompt of an item, from a template that the submission may provide in prompt.json.

{"formatVersion": 1, "template": "…{{informal_statement}}…{{informal_proof}}…"}. Only these two places are
filled, in one pass, so that an item's text is never read as a template. Single braces are plain text, since
Lean uses many.
"""

import json
import re
from pathlib import Path

from mlrb_kit.rejected import Rejected
from scorer_library.generation.items import Item

FILE = "prompt.json"
BYTES_MAX = 16_384
DEFAULT = "Statement: {{informal_statement}}\nProof: {{informal_proof}}\nLean:\n"
PLACE = re.compile(r"\{\{\s*([A-Za-z_][\w.]*)\s*\}\}")
FIELDS = ("informal_statement", "informal_proof")


def read_template(submission: Path) -> str:
    """The submission's template, or the default. Raises Rejected for any other content."""
    path = submission / FILE
    if not path.exists() and not path.is_symlink():
        return DEFAULT
    if path.is_symlink() or not path.is_file():
        raise Rejected(f"{FILE} is not a plain file")
    if path.stat().st_size > BYTES_MAX:
        raise Rejected(f"{FILE} is larger than {BYTES_MAX} bytes")
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise Rejected(f"{FILE} is not JSON in UTF-8") from error
    if not isinstance(given, dict) or set(given) != {"formatVersion", "template"}:
        raise Rejected(f"{FILE} holds formatVersion and template, and nothing else")
    template = given["template"]
    if (
        type(given["formatVersion"]) is not int
        or given["formatVersion"] != 1
        or not isinstance(template, str)
    ):
        raise Rejected(f"{FILE}: formatVersion is 1 and template is text")
    if any(0xD800 <= ord(character) <= 0xDFFF for character in template):
        raise Rejected(f"{FILE}: half a character (a lone surrogate) in the template")
    places = PLACE.findall(template)
    if unknown := sorted(set(places) - set(FIELDS)):
        raise Rejected(f"{FILE}: no place is called {unknown[0][:60]!r}; there are {', '.join(FIELDS)}")
    if "informal_statement" not in places:
        raise Rejected(f"{FILE}: the template has no {{{{informal_statement}}}}, so it asks nothing")
    if len(places) > 8:
        raise Rejected(f"{FILE}: more than 8 places")
    return template


def prompt(template: str, item: Item) -> str:
    return PLACE.sub(lambda place: getattr(item, place.group(1)), template)
