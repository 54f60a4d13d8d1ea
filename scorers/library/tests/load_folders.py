"""Runs the load check on each folder named on standard input, one JSON line of results each.

Usage: python load_folders.py < FOLDERS
"""

import json
import resource
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "pipelines/steps"))

import load

from mlrb_kit import load_check
from mlrb_kit.rejected import Rejected


def main() -> None:
    load_check.SECONDS_MIN = 2  # computing of a bomb; an honest load of this size takes a tenth of a second
    load.import_libraries()
    for line in sys.stdin:
        folder = Path(line.rstrip("\n"))
        end = "admitted"
        try:
            load_check.check_load(folder, load.load, load.write_control)
        except Rejected as rejected:
            end = f"rejected: {rejected}"
        except RuntimeError as error:
            end = f"not measured: {error}"
        # of the children so far: the largest one
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        print(json.dumps({"case": folder.name, "end": end, "peak": peak}), flush=True)


if __name__ == "__main__":
    main()
