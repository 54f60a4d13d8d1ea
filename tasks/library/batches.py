"""Draws what a step trains on: inputs and targets of shape (rows, context), the targets one token ahead.

Every row starts with END, as every scored window does.
"""

from collections.abc import Callable

import torch
from tokenizers import Tokenizer
from torch import Tensor

from library.bpe import END
from library.corpus import Corpus

Batch = tuple[Tensor, Tensor]
UNSCORED = -100  # a target that cross_entropy passes over


def packed(tokenizer: Tokenizer, corpora: list[Corpus], rows: int, context: int) -> Callable[[], Batch]:
    """Each corpus as one stream, texts joined by END, and rows cut from anywhere in it: no position is empty.

    Every corpus gives the same number of rows, however large it is.
    """
    streams = [encode(tokenizer, corpus.train) for corpus in corpora]
    reach = torch.arange(context)
    each = rows // len(streams)

    def draw() -> Batch:
        targets = [stream[torch.randint(len(stream) - context, (each, 1)) + reach] for stream in streams]
        return shifted(torch.cat(targets), tokenizer.token_to_id(END))

    return draw


def encode(tokenizer: Tokenizer, texts: list[str]) -> Tensor:
    """All texts as one row of token ids, each text followed by END."""
    end = tokenizer.token_to_id(END)
    ids = [token for row in tokenizer.encode_batch(texts) for token in [*row.ids, end]]
    return torch.tensor(ids)


def shifted(targets: Tensor, end: int) -> Batch:
    """The inputs that foretell `targets`; where nothing is to be foretold, they hold END."""
    inputs = torch.cat([torch.full((len(targets), 1), end), targets[:, :-1]], dim=1)
    return inputs.masked_fill(inputs == UNSCORED, end), targets
