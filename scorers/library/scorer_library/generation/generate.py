"""Lets a submission write the formal side of each item. Submitted predictions are never scored.

Greedy, one item at a time: BOS (EOS where there is none, as in every scorer), the prompt's tokens, then the
likeliest token at each step (the lowest id of equals), until an end token, `maxNewTokens`, the model's
context, or a limit on time or text. Memory holds the model and one item's keys and values.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

from mlrb_kit.answers import Prediction
from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import Submission, blame, load_submission, loaded
from mlrb_kit.writer import Writer
from scorer_library.generation.items import GenerationSettings, MathData
from scorer_library.generation.prompt import prompt, read_template

TEXT_CHARACTERS_MAX = 16_384  # one token may decode to any amount of text
END_TOKENS_MAX = 64


def predictions(folder: Path, data: MathData) -> list[Prediction]:
    """One prediction for each item, in order. Raises Rejected where the submission cannot generate."""
    template = read_template(folder)
    submission = load_submission(folder)
    prompts = [encode(submission, prompt(template, item)) for item in data.items]
    ends = end_tokens(submission)
    return [
        generate(submission, ids, name=item.name, ends=ends, settings=data.generation)
        for item, ids in zip(data.items, prompts, strict=True)
    ]


def encode(submission: Submission, text: str) -> list[int]:
    """Ids of a prompt. Unknown words are allowed; ids without an embedding are rejected.

    A causal model continues the prompt, so nothing may follow it. An encoder gets the special tokens that the
    tokenizer adds, as from lm-eval.
    """
    ids = loaded(
        "the tokenizer fails on text",
        lambda: submission.tokenizer.encode(text, add_special_tokens=submission.encoder_decoder),
    )
    if not ids:
        raise Rejected("the tokenizer has no tokens for an item's prompt")
    if any(not 0 <= token < submission.vocabulary for token in ids):
        raise Rejected(
            f"the tokenizer gives ids of {max(ids)}; the model has {submission.vocabulary} embeddings"
        )
    follows = not submission.encoder_decoder and ids[0] == submission.start_id
    return ids[1:] if follows else ids


def end_tokens(submission: Submission) -> frozenset[int]:
    """The tokenizer's EOS and those of generation_config.json (or config.json)."""
    settings = getattr(submission.model, "generation_config", None)
    given = [submission.tokenizer.eos_token_id, getattr(settings, "eos_token_id", None)]
    listed = [token for entry in given for token in (entry if isinstance(entry, list) else [entry])]
    ids = [token for token in listed if token is not None]
    if len(ids) > END_TOKENS_MAX or any(type(token) is not int for token in ids):
        raise Rejected("generation_config.json: eos_token_id is neither a token nor a short list of tokens")
    return frozenset(ids)


def generate(
    submission: Submission,
    ids: list[int],
    *,
    name: str,
    ends: frozenset[int],
    settings: GenerationSettings,
    clock: Callable[[], float] = time.monotonic,
) -> Prediction:
    """Continues `ids`, which lack a causal model's start token. Raises Rejected on non-finite output."""
    import torch

    given = ids if submission.encoder_decoder else [submission.start_id, *ids]
    room = min(settings.new_tokens_max, room_after(submission, given))
    if room < 1:
        return Prediction(name, "", 0, 0, "prompt-too-long")
    ended = "tokens" if room == settings.new_tokens_max else "context"
    deadline = None if settings.seconds_max is None else clock() + settings.seconds_max
    with torch.inference_mode(), blame("the model fails on text"):
        writer = Writer(submission.model, given, encoder_decoder=submission.encoder_decoder)
    new, tied, characters = list[int](), 0, 0
    while len(new) < room:
        token, equals = next_token(writer, new)
        tied += equals > 1
        if token in ends:
            ended = "end-token"
            break
        if token >= submission.vocabulary:
            raise Rejected(f"the model predicts token {token}; it has {submission.vocabulary} embeddings")
        new.append(token)
        characters += len(submission.tokenizer.convert_ids_to_tokens(token) or "")
        if characters > TEXT_CHARACTERS_MAX:
            ended = "text"
            break
        if deadline is not None and clock() > deadline:
            ended = "seconds"
            break
    return Prediction(name, decode(submission, new), len(new), tied, ended)


def room_after(submission: Submission, given: list[int]) -> int:
    """The number of tokens that the model can write after a prompt. A decoder with an encoder has as many
    places as the encoder, and its start token takes one."""
    if submission.context is None:
        return sys.maxsize
    if not submission.encoder_decoder:
        return submission.context - len(given)
    return submission.context - 1 if len(given) <= submission.context else 0


def next_token(writer: Writer, new: list[int]) -> tuple[int, int]:
    """The likeliest token after `new` (the lowest id of equals), and the number of such tokens."""
    import torch

    with torch.inference_mode(), blame("the model fails on text"):
        logits = writer.next_logits(new)
        if not torch.isfinite(logits).all():
            raise Rejected("non-finite output")
        likeliest = torch.nonzero(logits == logits.max()).flatten()
        return int(likeliest[0]), len(likeliest)


def decode(submission: Submission, ids: list[int]) -> str:
    text = loaded(
        "the tokenizer cannot decode the model's output",
        lambda: submission.tokenizer.decode(
            ids, skip_special_tokens=True, clean_up_tokenization_spaces=False
        ),
    )
    return text[:TEXT_CHARACTERS_MAX].encode("utf-8", "replace").decode()
