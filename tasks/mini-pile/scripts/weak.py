"""What one would hand in after a quick read: each line of the text is a row of its own.

Rows are padded to the context's length and cut there, as tutorials do. Nothing in it is broken, and the
line's end is learnt as part of the line; but a part of what the model computes stands for no text,
and no row shows what follows a line.
"""

from collections.abc import Callable

import torch
from tokenizers import Tokenizer

from library.batches import UNSCORED, Batch, shifted
from library.bpe import END
from library.corpus import Corpus
from train import CONTEXT, ROWS, run


def padded_lines(tokenizer: Tokenizer, corpora: list[Corpus]) -> Callable[[], Batch]:
    end = tokenizer.token_to_id(END)
    lines = [line for corpus in corpora for text in corpus.train for line in text.splitlines(keepends=True)]
    targets = torch.full((len(lines), CONTEXT), UNSCORED)
    for row, encoded in zip(targets, tokenizer.encode_batch(lines), strict=True):
        ids = torch.tensor(encoded.ids[:CONTEXT])
        row[: len(ids)] = ids

    def draw() -> Batch:
        return shifted(targets[torch.randint(len(targets), (ROWS,))], end)

    return draw


if __name__ == "__main__":
    run(
        name="script-weak",
        hypothesis="a line of text is a good training example",
        change="none: a row for each line, padded or cut to 256 tokens",
        batches=padded_lines,
    )
