"""Runs the script of the stage `load` inside the walls of one stage, on each folder that `validate` left in
MLRB_WORK/in/validated and on each loading bomb in MLRB_WORK/in/bombs.

Each folder gets a forked child: importing the libraries takes longer than most loads.
"""

import json
import os
import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path("pipelines/steps").absolute()))

import load

from mlrb_kit import load_check


def main() -> None:
    load.import_libraries()
    work = Path(os.environ["MLRB_WORK"])
    outside = Path(os.environ["MLRB_TEST_OUTSIDE"])
    seen = {"file": outside.exists(), "variables": sorted(os.environ)}
    (work / "out/sight.json").write_text(json.dumps(seen), encoding="utf-8")
    load_all(work / "in/validated", work / "out")
    load_check.SECONDS_MIN = 2  # computing of a bomb; an honest load of this size takes a tenth of a second
    load_all(work / "in/bombs", work / "out/bombs")


def load_all(folders: Path, out: Path) -> None:
    out.mkdir(exist_ok=True)
    with (out / "loaded.jsonl").open("w", encoding="utf-8") as lines:
        for folder in sorted(folders.iterdir() if folders.exists() else []):
            if folder.is_dir():
                print(f"load {folder.name}", flush=True)
                line = loaded(folder, out / f"{folder.name}.json")
                print(json.dumps(line), file=lines, flush=True)


def loaded(folder: Path, result: Path) -> dict:
    """`exit`: the status of the stage. `cpuMs` and `peakBytes` include the loads in its children."""
    child = os.fork()
    if child == 0:
        sys.argv = ["load.py"]
        for flag, name, path in (
            ("--input", "submission", folder / "submission"),
            ("--input", "admission", folder / "admission.json"),
            ("--output", "admission", result),
        ):
            sys.argv += [flag, f"{name}={path}"]
        try:
            load.main()
            os._exit(0)
        except BaseException:
            os.write(2, traceback.format_exc().encode())
        finally:
            os._exit(1)
    _, status, usage = os.wait4(child, 0)
    return {
        "name": folder.name,
        "exit": os.waitstatus_to_exitcode(status),
        "cpuMs": 1000 * (usage.ru_utime + usage.ru_stime),
        "peakBytes": usage.ru_maxrss * 1024,
    }


if __name__ == "__main__":
    main()
