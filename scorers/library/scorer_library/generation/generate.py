"""Lets a submission write the formal side of each item. Submitted predictions are never scored.

Greedy, one item at a time: BOS (EOS where there is none, as in every scorer), the prompt's tokens, then the
likeliest token at each step (the lowest id of equals), until an end token, `maxNewTokens`, the model's
context, or a limit on time or text. Memory holds the model and one item's keys and values.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mlrb_kit.answers import Prediction
from mlrb_kit.device import device
from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import Submission, blame, load_submission, loaded
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
    """Ids of a prompt. Unknown words are allowed; ids without an embedding are rejected."""
    ids = loaded(
        "the tokenizer fails on text", lambda: submission.tokenizer.encode(text, add_special_tokens=False)
    )
    if not ids:
        raise Rejected("the tokenizer has no tokens for an item's prompt")
    if any(not 0 <= token < submission.vocabulary for token in ids):
        raise Rejected(
            f"the tokenizer gives ids of {max(ids)}; the model has {submission.vocabulary} embeddings"
        )
    return ids[1:] if ids[0] == submission.start_id else ids


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
    """Continues `ids`, which lack the start token. Raises Rejected on non-finite output."""
    given = [submission.start_id, *ids]
    room = settings.new_tokens_max
    if submission.context is not None:
        room = min(room, submission.context - len(given))
    if room < 1:
        return Prediction(name, "", 0, 0, "prompt-too-long")
    ended = "tokens" if room == settings.new_tokens_max else "context"
    deadline = None if settings.seconds_max is None else clock() + settings.seconds_max
    step, new, tied, characters = Step(submission), list[int](), 0, 0
    while len(new) < room:
        token, equals = step.next_token(given if not new else [*given, *new])
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


class Step:
    """One forward pass at a time; the model's own cache keeps the keys and values of earlier tokens."""

    def __init__(self, submission: Submission) -> None:
        self.model = submission.model
        self.cache: Any = None

    def next_token(self, ids: list[int]) -> tuple[int, int]:
        """The likeliest token after `ids` (the lowest id of equals), and the number of such tokens."""
        import torch

        fresh = ids if self.cache is None else ids[-1:]
        with torch.inference_mode(), blame("the model fails on text"):
            output = self.model(
                input_ids=torch.tensor([fresh], device=device()),
                past_key_values=self.cache,
                use_cache=True,
                return_dict=True,
            )
            logits = output.logits[0, -1].float()
            if not torch.isfinite(logits).all():
                raise Rejected("non-finite output")
            self.cache = getattr(output, "past_key_values", None)  # None: the next step reads all again
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
