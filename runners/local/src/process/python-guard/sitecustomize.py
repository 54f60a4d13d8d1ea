"""Restricts a stage's script to its declarations. Python imports this file at start, from PYTHONPATH."""

import os
import sys

if "MLRB_PERMISSIONS" in os.environ:
    # stages write no byte code; without it, each stage would compile the guard again
    quiet, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    import stage_guard

    sys.dont_write_bytecode = quiet
    stage_guard.hold_or_end(os.environ["MLRB_PERMISSIONS"])
