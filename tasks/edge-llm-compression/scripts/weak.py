"""What one would hand in after a quick read: blocks taken out at even distances.

Where to begin is left open by that, so the four possible beginnings are tried on the same text, and the one
that predicts it best is kept. Nothing in it is broken; it never asks which blocks the model can spare.

An equal budget: a token costs a reading of 22 blocks and the output head, which holds as many numbers as
8 blocks; reference reads 30 blocks and no head.
"""

from collections.abc import Callable

from torch import Tensor, nn

from compress import READ_TOKENS, ROW_TOKENS, Blocks, Method, bits, evenly_spaced, run, without
from library.llama import Llama

SHIFTS = (1, 2, 3, 0)  # the first counts when there is no time to try


def choose(model: Llama, rows: list[Tensor], out_of_time: Callable[[], bool]) -> tuple[Blocks, int]:
    whole: nn.ModuleList = model.model.layers
    tried_on = rows[: READ_TOKENS // ROW_TOKENS // len(SHIFTS)]
    best, least, tokens = evenly_spaced(len(whole), SHIFTS[0]), float("inf"), 0
    for shift in SHIFTS:
        if out_of_time():
            break
        dropped = evenly_spaced(len(whole), shift)
        model.model.layers = without(model, dropped)
        found = bits(model, tried_on)
        model.model.layers = whole
        tokens += sum(len(row) for row in tried_on)
        print(f"without blocks {dropped}: {found:.0f} bits", flush=True)
        if found < least:
            best, least = dropped, found
    return best, tokens


if __name__ == "__main__":
    run(
        Method(
            name="script-weak",
            hypothesis="neighbouring blocks do alike, so blocks at even distances can be spared",
            change="8 blocks taken out at even distances, the best of four beginnings",
            choose=choose,
        )
    )
