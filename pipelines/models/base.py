"""Provides the base model to a task's agents, as `base`."""

import shutil

from mlrb_kit.stage import read_stage

if __name__ == "__main__":
    stage = read_stage()
    shutil.copytree(stage.input("base"), stage.output("models") / "base", copy_function=shutil.copy)
