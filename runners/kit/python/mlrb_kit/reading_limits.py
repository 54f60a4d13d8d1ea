"""The limits on what Python reads of a submission before it parses anything.

Admission has checked the same files with runners/kit/src/admission/reading-limits.ts, which says what
published models have; a test compares the numbers. Scorers that are run by hand have only these.
"""

from pathlib import Path

from mlrb_kit.rejected import Rejected

INDEX_BYTES = 16 * 2**20
HEADER_BYTES = 8 * 2**20
SHARDS = 1000


def check_size(path: Path, most: int) -> None:
    """Raises Rejected for a file of over `most` bytes."""
    size = path.stat().st_size
    if size > most:
        raise Rejected(f"{path.name}: {size} bytes; at most {most} are read")


def check_header(path: Path) -> None:
    """Raises Rejected for a safetensors file that names a longer header than any model has."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
    if size > HEADER_BYTES:
        raise Rejected(f"{path.name}: {size} bytes of header; at most {HEADER_BYTES} are read")
