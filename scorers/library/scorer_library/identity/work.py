"""Bounds what a comparison may cost, by the sizes of what it compares: the same on every machine.

A hostile submission can be made so that each of its tensors is compared with each given one. Seconds are
those of one core of 2024; the stage has a longer time limit, so the bound comes first.
"""

from mlrb_kit.rejected import Rejected

SECONDS_MAX = 5400.0
PER_VALUE = 1e-8  # reading, scaling and comparing one value
PER_CUBE = 6e-10  # eigenvalues of a symmetric matrix, over the cube of its size


class Work:
    """Counts work; raises Rejected beyond SECONDS_MAX."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def values(self, count: int) -> None:
        self._add(PER_VALUE * count)

    def equal(self, count: int) -> None:
        """Tests of two values."""
        self._add(2e-9 * count)

    def eigenvalues(self, size: int) -> None:
        self._add(PER_CUBE * size**3)

    def products(self, rows: int, others: int, width: int) -> None:
        """The product of two matrices."""
        self._add(1e-10 * rows * others * width)

    def _add(self, seconds: float) -> None:
        self.seconds += seconds
        if self.seconds > SECONDS_MAX:
            raise Rejected(
                f"comparing its tensors would take more than {SECONDS_MAX / 60:.0f} minutes of one core"
            )
