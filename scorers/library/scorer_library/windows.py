"""Cuts text into the windows of bits per byte."""

DOCUMENT_BYTES = 4096
WINDOW_BYTES = 256


def windows(text: str, document_bytes: int = DOCUMENT_BYTES, window_bytes: int = WINDOW_BYTES) -> list[str]:
    """The first `document_bytes` of `text` in pieces of at most `window_bytes`, counted in UTF-8.

    A cut inside a character moves to the left of the character.
    """
    data = text.encode()
    data = data[: boundary(data, min(document_bytes, len(data)))]
    pieces, start = [], 0
    while start < len(data):
        end = boundary(data, min(start + window_bytes, len(data)))
        pieces.append(data[start:end].decode())
        start = end
    return pieces


def boundary(data: bytes, at: int) -> int:
    """The last position at or before `at` where a character begins (or the data ends)."""
    while at < len(data) and data[at] & 0xC0 == 0x80:
        at -= 1
    return at
