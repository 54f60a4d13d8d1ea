"""Lets Lean compile the data's formal proofs, and judges one of each family like a scorer.

Prints one JSON object: `compiled`, how many in all, and `judged`, how many of the families. By hand, for all
of train, or every EVERY-th row of it:
    PYTHONPATH=runners/kit/python:scorers/library python
        tasks/math-reasoning/tests/check_proofs.py PUBLIC PRIVATE [EVERY]
"""

import json
import sys
from pathlib import Path

from scorer_library.generation.items import Item, read_items, read_math
from scorer_library.lean.check import Lean, open_lean, trouble
from scorer_library.lean.score import says_the_same

AT_ONCE = 600  # all at once take more than a check's limit of a gigabyte


def main() -> None:
    public, private = Path(sys.argv[1]), Path(sys.argv[2])
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    data = read_math(private)
    items = [
        *data.items,
        *read_items(public / "dev.jsonl"),
        *read_items(public / "train.jsonl")[::every],
    ]
    families = {item.name.rpartition("_")[0].rpartition("_")[0]: item for item in items}
    with open_lean(data.lean) as lean:
        for start in range(0, len(items), AT_ONCE):
            compile_all(lean, items[start : start + AT_ONCE])
        for item in families.values():
            verdict = lean.judge(item.formal_proof)
            if not verdict.compiles or not says_the_same(item.formal_proof, item.formal_proof):
                raise SystemExit(f"{item.name}: {verdict.reason or 'no theorem'}")
    print(json.dumps({"compiled": len(items), "judged": len(families)}))


def compile_all(lean: Lean, items: list[Item]) -> None:
    """Compiles all in one file, each in its own namespace, since names repeat. The texts are trusted, so the
    absence of errors suffices."""
    spaces = [f"namespace M{at}\n{item.formal_proof}\nend M{at}\n" for at, item in enumerate(items)]
    with lean.scratch() as folder:
        module = folder / "All.olean"
        ran = lean.run(folder, "All", lean.header() + "".join(spaces), module)
        if not ran.clean or not module.is_file():
            raise SystemExit(f"Lean refuses a proof of the data: {trouble(ran)}")


if __name__ == "__main__":
    main()
