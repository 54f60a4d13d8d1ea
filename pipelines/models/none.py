"""For tasks that provide no models."""

from mlrb_kit.stage import read_stage

if __name__ == "__main__":
    read_stage()
