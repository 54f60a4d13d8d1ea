"""Loads a submission, reads tokens and writes tokens, for measurements.

Greedy and without an end token: the number of tokens is fixed, since it determines the cost.
"""

import sys
from pathlib import Path
from typing import Any

from mlrb_kit.device import device
from mlrb_kit.log_probabilities import log_probabilities
from mlrb_kit.submission import (
    blame,
    fitting,
    is_encoder_decoder,
    load_tokenizer,
    sketch_model,
    vocabulary_of,
)
from scorer_library.generate_by_library import generate_by_library, within


def check_usable(folder: Path, model: Any) -> None:
    """Raises Rejected for submissions that may have no measurement: a tokenizer that cannot be loaded or does
    not fit, non-finite outputs. Called after measuring, since the check itself uses memory and time."""
    submission = fitting(model, *load_tokenizer(folder))
    ids = submission.encode("The ferry left the harbour at seven, and nobody waved.")
    log_probabilities(submission, [submission.start_id, *ids][: submission.context])


def prepare(folder: Path) -> None:
    """Imports the model's classes and computes one product, so that the model is charged for neither."""
    import torch

    # transformers and torch would import them, which takes a second, for uses that are not measured here
    sys.modules.update(dict.fromkeys(("sklearn", "scipy", "pandas")))
    torch.set_num_threads(1)
    sketch_model(folder)
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        square = torch.ones(64, 64, dtype=dtype, device=device())
        torch.softmax(torch.nn.functional.linear(square, square), dim=-1)


def token_ids(count: int, vocabulary: int) -> list[int]:
    return [at * 7 % vocabulary for at in range(count)]


def read_tokens(model: Any, ids: list[int]) -> Any:
    """One forward pass without a cache. Returns logits of shape (len(ids), outputs).

    Both parts of an encoder-decoder read all tokens, so neither part's memory stays unmeasured.
    """
    import torch

    with torch.inference_mode(), blame("the model fails on text"):
        given = torch.tensor([ids], device=device())
        more = {"decoder_input_ids": given} if is_encoder_decoder(model.config) else {}
        return model(input_ids=given, use_cache=False, **more).logits[0]


def write_tokens(model: Any, ids: list[int], count: int, *, usable: bool = True) -> None:
    """Reads `ids`, then writes `count` tokens as the library does.

    Raises Rejected where the model fails, and, where `usable` is asked for, at the first output that is not
    finite."""
    if count < 1:
        return
    settings = {
        "max_new_tokens": count,
        "do_sample": False,
        "use_cache": True,
        "decoder_start_token_id": getattr(model.config, "decoder_start_token_id", None) or 0,
    }
    keeps = within(vocabulary_of(model), finite=usable)
    with blame("the model fails on text"):
        generate_by_library(model, ids, settings, logits_processor=[keeps])


def fitted(wanted_forward: int, wanted_new: int, context: int | None) -> tuple[int, int, int]:
    """Tokens to read in one pass, tokens of the prompt, and tokens to write; cut to a shorter context."""
    if context is None:
        return wanted_forward, wanted_forward, wanted_new
    new = min(wanted_new, max(1, context // 2))
    return min(wanted_forward, context), min(wanted_forward, context - new), new
