"""Imported by Python at its start, from PYTHONPATH: holds a stage's script to what it declares."""

import os

if "MLRB_PERMISSIONS" in os.environ:
    import stage_guard

    stage_guard.hold_or_end(os.environ["MLRB_PERMISSIONS"])
