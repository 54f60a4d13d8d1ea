"""Reads submission.csv, which a submitted program wrote. Nothing in it is trusted."""

import csv
import io
import math
import os
import stat
from collections.abc import Collection
from pathlib import Path

from mlrb_kit.rejected import Rejected

FILE = "submission.csv"
ID = "image_id"
BYTES_PER_ROW = 400
TEXT_MAX = 100  # characters of an id or a prediction


def read_predictions(work: Path, column: str, ids: Collection[str]) -> dict[str, str]:
    """One prediction for each of `ids`. Raises Rejected for every other content."""
    text = read_plain(work / FILE, BYTES_PER_ROW * (len(ids) + 1))
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    found: dict[str, str] = {}
    known = frozenset(ids)
    try:
        header = next(rows, [])
        if header != [ID, column]:
            raise Rejected(f"{FILE} begins with {shown(','.join(header))}, expected {ID},{column}")
        for row in rows:
            if not row:
                continue
            if len(row) != 2:
                raise Rejected(f"line {rows.line_num} of {FILE} has {len(row)} values, expected 2")
            name, prediction = row
            if name not in known:
                raise Rejected(f"{FILE} has a prediction for {shown(name)}, which is no test image")
            if name in found:
                raise Rejected(f"{FILE} has two predictions for {shown(name)}")
            found[name] = normalised(prediction, name)
    except csv.Error as error:
        raise Rejected(f"{FILE} is no CSV file: {error}") from error
    if len(found) < len(known):
        raise Rejected(f"{FILE} has predictions for {len(found)} of {len(known)} test images")
    return found


def normalised(prediction: str, name: str) -> str:
    """A whole number in one spelling (`7.0` is `7`), other texts as they are."""
    text = prediction.strip()
    if not text:  # as pandas writes NaN
        raise Rejected(f"there is no prediction for {shown(name)}")
    if len(text) > TEXT_MAX:
        raise Rejected(f"the prediction for {shown(name)} has over {TEXT_MAX} characters")
    try:
        number = float(text)
    except ValueError:
        return text
    if not math.isfinite(number):
        raise Rejected(f"non-finite output: the prediction for {shown(name)} is {text}")
    return str(int(number)) if number.is_integer() else text


def read_plain(path: Path, bytes_max: int) -> str:
    """A plain file; a link is not followed and a pipe not waited for."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        raise Rejected(f"the program wrote no {FILE} in its working folder") from None
    except OSError as error:
        raise Rejected(f"{FILE} is no plain file: {os.strerror(error.errno or 0)}") from error
    with os.fdopen(file, "rb") as opened:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise Rejected(f"{FILE} is no plain file")
        content = opened.read(bytes_max + 1)
    if len(content) > bytes_max:
        raise Rejected(f"{FILE} has over {bytes_max} bytes, too many for one row for each test image")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Rejected(f"{FILE} is not UTF-8") from error


def shown(text: str) -> str:
    return repr(text[:40])
