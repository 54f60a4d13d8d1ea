"""A value for each place, added up, since the label is a sum over places."""

from train import run

if __name__ == "__main__":
    run(
        "reference",
        "summed-places",
        "a sum of digits is a sum over places",
        "a value for each place, added up",
    )
