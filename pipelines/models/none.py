"""The models that a task gives beside its data: none."""

from mlrb_kit.stage import read_stage

if __name__ == "__main__":
    read_stage()
