"""Starts a measurement in a fresh process, and reads the memory of the current process.

A forked process, or one that has scored before, includes inherited memory: an empty child of a warm Python
already peaks at 359 MiB. So measurements start by exec.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mlrb_kit
from mlrb_kit.rejected import Rejected
from mlrb_kit.results import write_json

STATUS, CLEAR_REFS = Path("/proc/self/status"), Path("/proc/self/clear_refs")
CLEAR_PEAK = "5"  # Linux, proc(5): resets VmHWM to what is resident now

# import paths without the stage guard's folder: the guard would hook every opened file
FOLDERS = [str(Path(mlrb_kit.__file__).parents[1]), str(Path(__file__).parents[2])]

# variables that otherwise change memory use and speed
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "MALLOC_ARENA_MAX": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_VERBOSITY": "error",
}

# Blocks of at least 64 KiB return to the system when they are freed. glibc otherwise raises this size to that
# of the last one freed, up to 32 MiB. Then large tensors share the heap, which keeps its gaps: a model that
# needs 60 MB at once held over 240 MB.
MEMORY_ENVIRONMENT = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}


class NotMeasurable(RuntimeError):
    """The measurement failed. Without `status`, this machine cannot take it, of any submission.

    `status` is the exit status of a measuring process that ended without a result, negative for a signal.
    """

    def __init__(self, reason: str, status: int | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.of_machine = status is None


def measure_fresh_memory(script: Path, submission: Path, settings: dict[str, int]) -> dict[str, Any]:
    """As measure_fresh, in a process that holds little more than its tensors. It is slower."""
    return measure_fresh(script, submission, settings, MEMORY_ENVIRONMENT)


def measure_fresh(
    script: Path, submission: Path, settings: dict[str, int], more: dict[str, str] | None = None
) -> dict[str, Any]:
    """Returns what `script` wrote. `more`: environment variables. Raises Rejected with its reason, or
    NotMeasurable if the process died."""
    with tempfile.TemporaryDirectory(prefix="mlrb-fresh-") as folder:
        result = Path(folder, "result.json")
        flags = [f"--submission={submission}", f"--settings={json.dumps(settings)}", f"--result={result}"]
        ran = subprocess.run(
            [sys.executable, str(script), *flags],
            env={
                **os.environ,
                **ENVIRONMENT,
                **(more or {}),
                "HF_HOME": folder,
                "PYTHONPATH": os.pathsep.join(FOLDERS),
            },
            check=False,
        )
        if ran.returncode != 0 or not result.is_file():
            raise NotMeasurable(
                f"the measuring process ended with status {ran.returncode}; its output is above",
                ran.returncode,
            )
        found = json.loads(result.read_text(encoding="utf-8"))
    if "rejected" in found:
        raise Rejected(found["rejected"])
    if "notMeasurable" in found:
        raise NotMeasurable(found["notMeasurable"], found.get("status"))
    return found


def answer_fresh(measure: Callable[[Path, dict[str, int]], dict[str, Any]]) -> None:
    """The main function of scripts that measure_fresh starts. `measure` gets the submission's folder and the
    settings."""
    parser = argparse.ArgumentParser(description="Measures one submission in a process of its own.")
    parser.add_argument("--submission", type=Path, required=True)
    parser.add_argument("--settings", type=json.loads, required=True, help="JSON: settings by name")
    parser.add_argument("--result", type=Path, required=True, help="JSON to write")
    args = parser.parse_args()
    try:
        found = measure(args.submission, args.settings)
    except Rejected as rejected:
        found = {"rejected": str(rejected)}
    except NotMeasurable as error:
        found = {"notMeasurable": str(error)}
    except Exception as error:
        traceback.print_exc()
        found = {"notMeasurable": f"{type(error).__name__}: {' '.join(str(error).split())}", "status": 1}
    write_json(args.result, found)


def restart_peak() -> int:
    """Resets the peak. Returns the bytes that are resident now, from which the new peak starts."""
    try:
        CLEAR_REFS.write_text(CLEAR_PEAK)
    except OSError as error:
        raise NotMeasurable(
            "peak memory is read from Linux's /proc, which is missing or not writable"
        ) from error
    return status_bytes("VmHWM")


def peak_bytes() -> int:
    """The most bytes that were resident since restart_peak."""
    return status_bytes("VmHWM")


def status_bytes(field: str) -> int:
    try:
        lines = STATUS.read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))
    except (OSError, StopIteration) as error:
        raise NotMeasurable(f"this system does not report {field}") from error
