"""Measures one submission's peak memory, of the GPU where the stage holds one. memory.measure_fresh_memory
starts it by exec; see scorers/net-peak-bytes."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlrb_kit.device import device_name, gpu_peak_bytes, on_gpu, restart_gpu_peak
from mlrb_kit.rejected import Rejected
from mlrb_kit.stored import Stored
from mlrb_kit.submission import check_files, context_of, load_model, vocabulary_of
from scorer_library.costs.memory import answer_fresh, peak_bytes, restart_peak
from scorer_library.costs.memory_use import (
    check_usable,
    fitted,
    prepare,
    read_tokens,
    token_ids,
    write_tokens,
)

PAGE_BYTES = 4096


@dataclass(frozen=True)
class PeakMeter:
    before: int  # bytes held when the meter was started: Python and its libraries
    peak: Callable[[], int]  # the most bytes held since


def start_meter() -> PeakMeter:
    """Of the GPU where the stage holds one, else of this process."""
    restart, peak = (restart_gpu_peak, gpu_peak_bytes) if on_gpu() else (restart_peak, peak_bytes)
    return PeakMeter(restart(), peak)


def measure(folder: Path, settings: dict[str, int]) -> dict[str, Any]:
    stored = check_files(folder)
    prepare(folder)
    found, model = run_recipe(folder, stored, settings, start_meter())
    check_usable(folder, model)
    return {**found, **({"device": device_name()} if on_gpu() else {})}


def run_recipe(
    folder: Path, stored: Stored, settings: dict[str, int], meter: PeakMeter, *, for_rule: bool = False
) -> tuple[dict[str, int], Any]:
    """Loads the model, reads `forwardTokens` in one pass, reads them again and writes `newTokens`.

    Returns bytes and numbers of tokens, and the model. Raises Rejected where the model fails. For a rule, the
    settings of a submission change nothing: the numbers of tokens are not cut to the context that it states,
    and outputs need not be finite.
    """
    model = load_model(folder, stored)
    touch(model)
    loaded = meter.peak()
    context = None if for_rule else context_of(model)
    forward, given, new = fitted(settings["forwardTokens"], settings["newTokens"], context)
    vocabulary = vocabulary_of(model)
    logits = read_tokens(model, token_ids(forward, vocabulary))
    read = meter.peak()
    if not for_rule:
        check_finite(logits)  # row by row, which needs far less memory than the pass
    del logits
    write_tokens(model, token_ids(given, vocabulary), new, usable=not for_rule)
    peak = meter.peak()
    found = {
        "netBytes": peak - meter.before,
        "rawBytes": peak,
        "importsBytes": meter.before,
        "loadBytes": loaded - meter.before,
        "forwardBytes": read - meter.before,
        "forwardTokens": forward,
        "promptTokens": given,
        "newTokens": new,
    }
    return found, model


def touch(model: Any) -> None:
    """Reads a number of every page of the weights. transformers maps the file, so pages that no token needs
    (rows of an embedding) would be missing from the peak."""
    for tensor in (*model.parameters(), *model.buffers()):
        step = max(1, PAGE_BYTES // tensor.element_size())
        tensor.detach().flatten()[::step].sum().item()


def check_finite(logits: Any) -> None:
    import torch

    if not all(bool(torch.isfinite(row).all()) for row in logits):
        raise Rejected("non-finite output")


if __name__ == "__main__":
    answer_fresh(measure)
