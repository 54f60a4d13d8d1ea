"""Provides the models that the official task gives, from their downloads (task.yaml: `givenModels`)."""

import shutil

from mlrb_kit.stage import read_stage

if __name__ == "__main__":
    stage = read_stage()
    shutil.copytree(
        stage.input("given"), stage.output("models"), copy_function=shutil.copy, dirs_exist_ok=True
    )
