"""What a submission writes for its scorers: nothing, where none of them judges texts."""

from mlrb_kit.stage import read_stage

if __name__ == "__main__":
    read_stage()
