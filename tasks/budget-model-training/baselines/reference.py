"""Convolutions and a mean over places, since the class does not depend on the place."""

from train import run

if __name__ == "__main__":
    run(
        "reference", "convolutions", "patterns tell the class, wherever they are", "convolutions, then a mean"
    )
