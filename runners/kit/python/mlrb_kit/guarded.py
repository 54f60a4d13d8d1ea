"""Runs what opens a submission in a child process, and says whose fault an unexpected end is (ADR 37).

An exception, a signal or a limit would fail the stage, and a failed stage is "not measured", which an agent
must not be able to choose. Where the same code passes on a known-good model, here and under the same limits,
such an end is the submission's fault. Otherwise the stage fails: the machine, data or code is at fault.
"""

import math
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from mlrb_kit.load_check import GIB, MEMORY_SLACK, Tried, free_bytes, tried
from mlrb_kit.random_gpt2 import write_control
from mlrb_kit.stage import Stage

TIME_SHARE = 0.8  # of the stage's time, in computing; a known-good model gets the rest
MEMORY_LEFT = 2**29  # of the stage's memory, so that an allocation fails before the kernel ends the stage
GPU_MEMORY = re.compile(r"total capacity of ([\d.]+) GiB")

# judges the folder and writes the stage's outputs; raises Rejected after it wrote a rejection
Act = Callable[[Path], None]


def fault_of(stage: Stage, act: Act, folder: Path, control: Act | None = None) -> str | None:
    """Why the submission in `folder` is at fault, or None where `act` judged it. `control` writes a good one.

    Ends the script, without outputs, where the machine, the data or the code is at fault. After a fault the
    caller writes the outputs again: those that are there may be the known-good model's.
    """
    memory = stage.limits.get("memoryBytes", math.inf)
    seconds = TIME_SHARE * stage.limits.get("timeMs", math.inf) / 1000
    begun = time.monotonic()
    attempt = partial(tried, memory=max(memory - MEMORY_LEFT, memory / 2))
    try:
        first = attempt(folder, act, seconds=seconds)
        if is_judged(first, memory, folder):
            return None
        late = f"it needs more than {first.seconds:.0f} s of computing"
        words = late if first.end == "time" else first.detail.replace(str(folder), "submission")
        with tempfile.TemporaryDirectory(prefix="mlrb-control-") as place:

            def write_and_act(to: Path) -> None:
                (control or partial(write_control, size=0))(to)
                act(to)

            good = attempt(Path(place), write_and_act, seconds=math.inf)
        if good.end != "loaded":
            why = f"a known-good model is not judged here either: {good.detail or good.end}"
            raise SystemExit(f"{words}\n  help: {why}. Repair this machine, the data or the code")
        left = seconds - (time.monotonic() - begun)
        if left > 0 and is_judged(attempt(folder, act, seconds=left), memory, folder):
            return None
    except SystemExit:
        for path in stage.outputs.values():
            if path.is_dir():
                shutil.rmtree(path)
                path.mkdir()
            else:
                path.unlink(missing_ok=True)
        raise
    return f"it cannot be judged, and a known-good model can: {words}"


def is_judged(ended: Tried, memory: float, folder: Path) -> bool:
    """Ends the script where the machine is at fault, gives less than a load may take, or nothing is known."""
    if ended.end in ("machine", "undecided"):
        raise SystemExit(ended.detail)
    if ended.end in ("memory", "killed"):
        needed = 2 * sum(path.stat().st_size for path in folder.glob("*.safetensors")) + MEMORY_SLACK
        on_gpu = GPU_MEMORY.search(ended.detail)
        room = min(memory, free_bytes(), float(on_gpu[1]) * GIB if on_gpu else math.inf)
        if room < needed:
            have = f"it has {room / GIB:.1f} GiB for a model that may take {needed / GIB:.1f} GiB"
            raise SystemExit(f"{ended.detail}\n  help: {have}; run the stage where more memory is free")
    return ended.end in ("loaded", "refused")
