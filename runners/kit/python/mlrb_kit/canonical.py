"""Writes JSON with the same bytes as kit's json-file.ts, so that a stage can be written in either language.

Keys in the order of JavaScript, numbers as it prints them: 5 for 5.0, 1e-7 for 1e-07.
"""

import json
import math
import os
from pathlib import Path
from typing import Any


def write_canonical(path: Path, value: Any) -> None:
    """By temporary name, sync and rename: a reader never sees half a file. Raises on NaN and infinities."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(f"{canonical(value)}\n")
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def canonical(value: Any, indent: str = "\n") -> str:
    inner = f"{indent}  "
    if isinstance(value, dict) and value:
        rows = [f"{text(name)}: {canonical(value[name], inner)}" for name in sorted(value, key=place)]
        return f"{{{inner}{f',{inner}'.join(rows)}{indent}}}"
    if isinstance(value, (list, tuple)) and value:
        return f"[{inner}{f',{inner}'.join(canonical(item, inner) for item in value)}{indent}]"
    if isinstance(value, str):
        return text(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number(float(value))
    return json.dumps(value)


def place(name: str) -> tuple[int, int, bytes]:
    """Sort key: by code units, except that JavaScript puts whole numbers first, by size."""
    if name.isascii() and name.isdigit() and str(int(name)) == name and int(name) < 2**32 - 1:
        return 0, int(name), b""
    return 1, 0, name.encode("utf-16-be", "surrogatepass")


def text(value: str) -> str:
    written = json.dumps(value, ensure_ascii=False)
    return "".join(f"\\u{ord(sign):04x}" if "\ud800" <= sign <= "\udfff" else sign for sign in written)


def number(value: float) -> str:
    """As ECMAScript's Number::toString: both write the fewest digits that identify the number."""
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a number that JSON can hold; use a variant that says why")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = f"{abs(value)!r}".partition("e")
    whole, _, rest = mantissa.partition(".")
    digits = (whole + rest).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + rest) - len(digits))  # digits before the point
    digits = digits.rstrip("0")
    if len(digits) <= point <= 21:
        return f"{sign}{digits.ljust(point, '0')}"
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    power = f"e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return f"{sign}{digits[0]}{'.' if len(digits) > 1 else ''}{digits[1:]}{power}"
