"""Measures the peak memory of a submission by the recipe of a memory rule, under a hard limit (ADR 44).

A process started by exec loads the model, reads and writes tokens (memory_peak.run_recipe). It may take
twice the rule's limit beyond its imports. On a GPU, the peak and the limit are those of torch's tensors.
"""

import contextlib
import math
import re
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mlrb_kit.device import device_name, on_gpu
from mlrb_kit.load_check import free_bytes, held_bytes
from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import check_files
from scorer_library.costs.memory import NotMeasurable, answer_fresh, measure_fresh_memory
from scorer_library.costs.memory_peak import run_recipe, start_meter
from scorer_library.costs.memory_use import prepare

# at most three runs: their median decides, so that one noisy run does not
FAR = 0.75  # of the rule's limit: a peak up to here is measured once
CLEAR = 0.1  # of the rule's limit: two peaks that are this far on one side of it are not measured again
HARD_LIMIT = 2  # times the rule's limit
SECONDS_MAX = 540  # of computing, in one run
ROOM_MIN = 1.1  # times the rule's limit: a machine that cannot give so much shows nothing about a submission
RESERVE_BYTES = 2**30  # what a run leaves free on the machine
OUT_OF_MEMORY = re.compile(r"allocate memory|out of memory|bad_alloc")
OWN_GPU_ERROR = "device-side assert"  # e.g. a position beyond the table of positions

# how a model can end a process; SIGKILL comes from outside
OWN_ENDS = (signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV)


def measure_limit(submission: Path, *, limit_bytes: int, tokens: int, new_tokens: int) -> dict[str, Any]:
    """One entry of memory.json. Raises NotMeasurable where the machine is at fault: too little memory, a
    process killed from outside."""
    settings = {"limitBytes": limit_bytes, "forwardTokens": tokens, "newTokens": new_tokens}
    runs: list[dict[str, Any]] = []
    while not is_decided(runs, limit_bytes):
        runs.append(measure_once(submission, settings))
    return {"bytes": limit_bytes, "tokens": tokens, "newTokens": new_tokens, "runs": runs}


def is_decided(runs: list[dict[str, Any]], limit_bytes: int) -> bool:
    """Whether no further run is needed. Two runs clearly on one side of the limit are two of three, so they
    decide the median. Peaks of one model differ by less than 5 %, and by 8 MB of library pages at most: one
    under FAR of the limit stays under it.

    A run starts Python and torch and takes ten seconds or more.
    """
    at_least = [run["atLeastBytes"] for run in runs]
    at_most = [run.get("atMostBytes", math.inf) for run in runs]
    match len(runs):
        case 0:
            return False
        case 1:
            return at_most[0] <= FAR * limit_bytes
        case 2:
            return max(at_most) < (1 - CLEAR) * limit_bytes or min(at_least) > (1 + CLEAR) * limit_bytes
        case _:
            return True


def measure_once(
    submission: Path,
    settings: dict[str, int],
    measure: Callable[[Path, Path, dict[str, int]], dict[str, Any]] = measure_fresh_memory,
) -> dict[str, Any]:
    try:
        return measure(Path(__file__), submission, settings)
    except Rejected as rejected:
        return failed(0, str(rejected))
    except NotMeasurable as error:
        if error.status == -signal.SIGXCPU:
            return failed(0, f"needs more than {SECONDS_MAX} s of computing")
        if error.status is not None and -error.status in OWN_ENDS:
            return failed(0, f"ends the process with {signal.Signals(-error.status).name}")
        raise


def failed(at_least: int, detail: str) -> dict[str, Any]:
    return {"end": "failed", "atLeastBytes": max(0, at_least), "detail": detail}


def run_once(folder: Path, settings: dict[str, int]) -> dict[str, Any]:
    """In the measuring process: the peak beyond the imports, or how the run ended and what it held."""
    stored = check_files(folder)
    prepare(folder)
    meter = start_meter()
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_MAX, SECONDS_MAX + 10))
    wanted = HARD_LIMIT * settings["limitBytes"]
    room = limit_gpu(wanted) if on_gpu() else limit_process(wanted)
    try:
        found, _ = run_recipe(folder, stored, settings, meter, for_rule=True)
    except (Rejected, MemoryError, RuntimeError) as error:
        if isinstance(error, MemoryError) or OUT_OF_MEMORY.search(str(error)):
            return over_limit(room, settings["limitBytes"])
        if isinstance(error, Rejected):
            return failed(meter.peak() - meter.before, str(error))
        if OWN_GPU_ERROR in str(error):
            return failed(0, str(error).splitlines()[0])
        raise
    net = max(0, found["netBytes"])
    run = {"end": "measured", "atLeastBytes": net, "atMostBytes": net, "numbers": found}
    return run | ({"device": device_name()} if on_gpu() else {})


def over_limit(room: int, limit_bytes: int) -> dict[str, Any]:
    if room < ROOM_MIN * limit_bytes:
        raise NotMeasurable(
            f"the rule allows {limit_bytes} bytes, and this machine can give a process {max(0, room)} now; "
            "run the stage where more memory is free, or raise its limits.memory"
        )
    return {"end": "over-limit", "atLeastBytes": room, "detail": "it asked for more than its hard limit"}


def limit_process(wanted: int) -> int:
    """Limits the private memory of this process to what it holds now and `wanted` bytes, or fewer on a small
    machine. Returns how many. If memory runs out all the same, the kernel ends this process first."""
    held = held_bytes()
    room = min(wanted, free_bytes() - RESERVE_BYTES)
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    if hard != resource.RLIM_INFINITY:
        room = min(room, hard - held)
    allowed = held + max(0, room)
    resource.setrlimit(resource.RLIMIT_DATA, (allowed, allowed))
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    return room


def limit_gpu(wanted: int) -> int:
    """Limits torch's memory on the GPU in the same way."""
    import torch

    free, total = torch.cuda.mem_get_info()
    room = min(wanted, free)
    torch.cuda.set_per_process_memory_fraction(min(1.0, room / total))
    return room


if __name__ == "__main__":
    answer_fresh(run_once)
