"""The models that a task gives beside its data: the base model, as `base`."""

import shutil

from mlrb_kit.stage import read_stage

if __name__ == "__main__":
    stage = read_stage()
    shutil.copytree(stage.input("base"), stage.output("models") / "base", copy_function=shutil.copy)
