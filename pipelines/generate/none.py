"""For tasks without scorers that judge texts: the model writes nothing."""

from mlrb_kit.stage import read_stage

if __name__ == "__main__":
    read_stage()
