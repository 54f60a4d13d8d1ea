"""What a researcher would hand in: whole documents packed end to end, so that every position is trained on.

A row is cut from anywhere in the stream and runs on over the ends of lines and documents.
"""

from functools import partial

from library.batches import packed
from train import CONTEXT, ROWS, run

if __name__ == "__main__":
    run(
        name="script-strong",
        hypothesis="with no position empty and no text cut off, the same compute learns more",
        change="rows of 256 tokens cut from the packed documents",
        batches=partial(packed, rows=ROWS, context=CONTEXT),
    )
