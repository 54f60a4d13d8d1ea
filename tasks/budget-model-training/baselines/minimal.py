"""A network of dense layers: each pixel at its place, though stripes may begin anywhere."""

from train import run

if __name__ == "__main__":
    run("minimal", "dense", "the pixels at their places tell the class", "none: two dense layers")
