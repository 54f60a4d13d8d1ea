"""Loads each admitted submission once under limits, before a scorer opens it, and admits it, rejects it or
leaves it undecided.

By hand: PYTHONPATH=runners/kit/python:scorers/library python pipelines/steps/load.py
    --input submission=DIR --input admission=FILE --output admission=FILE
"""

from mlrb_kit.admitted import Undecided, read_admission
from mlrb_kit.canonical import write_canonical
from mlrb_kit.load_check import check_load
from mlrb_kit.random_gpt2 import write_control
from mlrb_kit.rejected import Rejected
from mlrb_kit.stage import read_stage
from scorer_library.trial_load import import_libraries, load


def main() -> None:
    stage = read_stage()
    admission = read_admission(stage)
    for remark in ("dropped", "ignored"):  # equal folders share their scores, whatever was left out of them
        admission.pop(remark, None)
    folder = stage.input("submission")
    try:
        if admission["admitted"]:
            import_libraries()
            check_load(folder, load, write_control)
    except Rejected as rejected:
        reasons = [{"code": "load", "detail": str(rejected)}]
        admission = {**admission, "admitted": False, "reasons": reasons}
    except Undecided as undecided:
        admission = {**admission, "undecided": [{"code": "load", "detail": undecided.reasons}]}
    write_canonical(stage.output("admission"), admission)


if __name__ == "__main__":
    main()
