"""Imported by Python at its start, from PYTHONPATH: holds a stage's script to what it declares."""

import os
import sys

if "MLRB_PERMISSIONS" in os.environ:
    # stages write no byte code; without this one the guard would be compiled for each of them
    quiet, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    import stage_guard

    sys.dont_write_bytecode = quiet
    stage_guard.hold_or_end(os.environ["MLRB_PERMISSIONS"])
