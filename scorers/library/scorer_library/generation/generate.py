"""Lets a submission write the formal side of each item. Submitted predictions are never scored.

Greedy, one item at a time: BOS (EOS where there is none, as in every scorer), the prompt's tokens, then the
likeliest token at each step (the lowest id of equals), until an end token, `maxNewTokens`, the model's
context, or a limit on time or text. Memory holds the model and one item's keys and values.

The answers are those of the model's own forward pass, which every other scorer uses. transformers' generate()
keeps a cache, but gives some models other inputs: RoBERTa other positions, XLM a mask token. So the two are
compared once, and a model for which they differ reads all tokens again for each new one.
"""

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mlrb_kit.answers import Prediction
from mlrb_kit.device import device
from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import Submission, blame, load_submission, loaded
from scorer_library.generate_by_library import generate_by_library
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
    cached = cache_agrees(submission, prompts[0])
    return [
        generate(submission, ids, name=item.name, ends=ends, settings=data.generation, cached=cached)
        for item, ids in zip(data.items, prompts, strict=True)
    ]


def encode(submission: Submission, text: str) -> list[int]:
    """Ids of a prompt. Unknown words are allowed; ids without an embedding are rejected.

    A causal model continues the prompt, so nothing may follow it. An encoder gets the special tokens that the
    tokenizer adds, as from lm-eval.
    """
    ids = submission.tokens(text, special=submission.encoder_decoder)
    if not ids:
        raise Rejected("the tokenizer has no tokens for an item's prompt")
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
    cached: bool = True,
) -> Prediction:
    """Continues `ids`, which lack a causal model's start token. Raises Rejected on non-finite output.

    `cached`: as `cache_agrees` says.
    """
    given = ids if submission.encoder_decoder else [submission.start_id, *ids]
    room = min(settings.new_tokens_max, room_after(submission, given))
    if room < 1:
        return Prediction(name, "", 0, 0, "prompt-too-long")
    deadline = None if settings.seconds_max is None else clock() + settings.seconds_max
    writing = Writing(submission, ends, deadline, clock)
    (write if cached else write_without_cache)(submission, given, room, writing)
    ended = writing.ended or ("tokens" if room == settings.new_tokens_max else "context")
    return Prediction(name, decode(submission, writing.new), len(writing.new), writing.tied, ended)


@dataclass
class Writing:
    """What one item's answer is so far, and why it ended."""

    submission: Submission
    ends: frozenset[int]
    deadline: float | None  # in seconds of `clock`
    clock: Callable[[], float]
    new: list[int] = field(default_factory=list)
    characters: int = 0
    tied: int = 0  # tokens that had equals
    ended: str | None = None

    def choose(self, logits: Any) -> int:
        """The likeliest token, the lowest id of equals. `logits`: of shape (outputs,)."""
        import torch

        if not torch.isfinite(logits).all():
            raise Rejected("non-finite output")
        likeliest = torch.nonzero(logits == logits.max()).flatten()
        self.tied += len(likeliest) > 1
        return int(likeliest[0])

    def take(self, token: int) -> bool:
        """Whether the answer ends with `token`."""
        vocabulary = self.submission.vocabulary
        if token in self.ends:
            self.ended = "end-token"
            return True
        if token >= vocabulary:
            raise Rejected(f"the model predicts token {token}; it has {vocabulary} embeddings")
        self.new.append(token)
        self.characters += len(self.submission.tokenizer.convert_ids_to_tokens(token) or "")
        if self.characters > TEXT_CHARACTERS_MAX:
            self.ended = "text"
        elif self.deadline is not None and self.clock() > self.deadline:
            self.ended = "seconds"
        return self.ended is not None


def write(submission: Submission, given: list[int], room: int, writing: Writing) -> None:
    """Lets the library write, since each model type keeps its cache in its own way."""
    import torch
    from transformers import LogitsProcessor, StoppingCriteria

    class Chosen(LogitsProcessor):
        def __call__(self, input_ids: Any, scores: Any) -> Any:
            only = torch.full_like(scores, -torch.inf)
            only[0, writing.choose(scores[0])] = 0
            return only

    class Ended(StoppingCriteria):
        def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
            return torch.tensor([writing.take(int(input_ids[0, -1]))], device=input_ids.device)

    with blame("the model fails on text"):
        greedily(submission, given, room, logits_processor=[Chosen()], stopping_criteria=[Ended()])


def greedily(submission: Submission, given: list[int], room: int, **more: Any) -> Any:
    """What generate() of the library makes of `given`, with the likeliest of `room` tokens."""
    settings = {"max_new_tokens": room, "do_sample": False, "use_cache": True}
    if submission.encoder_decoder:
        settings["decoder_start_token_id"] = decoder_start(submission.model)
    return generate_by_library(submission.model, given, settings, **more)


def write_without_cache(submission: Submission, given: list[int], room: int, writing: Writing) -> None:
    """Reads all tokens again for each new one."""
    for _ in range(room):
        if writing.take(writing.choose(own_logits(submission, given, writing.new))):
            return


def own_logits(submission: Submission, given: list[int], new: list[int]) -> Any:
    """The forward pass's prediction after the prompt `given` and the written tokens, of shape (outputs,)."""
    import torch

    row = [decoder_start(submission.model), *new] if submission.encoder_decoder else [*given, *new]
    ids = {"input_ids": torch.tensor([row], device=device())}
    if submission.encoder_decoder:
        prompt_ids = torch.tensor([given], device=device())
        mask = torch.ones_like(prompt_ids)
        ids = {"input_ids": prompt_ids, "attention_mask": mask, "decoder_input_ids": ids["input_ids"]}
    with torch.inference_mode(), blame("the model fails on text"):
        return submission.model(**ids).logits[0, -1].float()


def cache_agrees(submission: Submission, ids: list[int]) -> bool:
    """Whether generate() computes the predictions of the forward pass, for two tokens after a prompt.

    Rounding differs between the two. A type that rejects generate() has no cache here.
    """
    import torch

    given = ids if submission.encoder_decoder else [submission.start_id, *ids]
    if submission.context is not None:
        given = given[: submission.context - 1]  # the second token's pass reads the first
    try:
        with blame("generate() fails"):
            theirs = greedily(submission, given, 2, return_dict_in_generate=True, output_logits=True)
    except Rejected:
        return False
    written = theirs.sequences[0, -2:].tolist()
    tolerance = math.sqrt(torch.finfo(submission.model.dtype).eps)
    for at in range(2):
        own = own_logits(submission, given, written[:at])
        their = theirs.logits[at][0].float()
        if own.shape != their.shape or (at == 0 and own.argmax() != their.argmax()):
            return False
        if not (own - their).abs().max() <= tolerance * own.abs().max():
            return False
    return True


def decoder_start(model: Any) -> int:
    """The token that a decoder starts with, as transformers' generate() chooses it."""
    generation = getattr(model, "generation_config", None)
    given = [
        getattr(generation, "decoder_start_token_id", None),
        getattr(model.config, "decoder_start_token_id", None),
        getattr(generation, "bos_token_id", None),
    ]
    start = next((token for token in given if token is not None), None)
    if type(start) is not int or start < 0:
        raise Rejected(f"config.json: decoder_start_token_id is {start}, no token to start a decoder with")
    return start


def room_after(submission: Submission, given: list[int]) -> int:
    """The number of tokens that the model can write after a prompt. A decoder with an encoder has as many
    places as the encoder, and its start token takes one."""
    if submission.context is None:
        return sys.maxsize
    if not submission.encoder_decoder:
        return submission.context - len(given)
    return submission.context - 1 if len(given) <= submission.context else 0


def decode(submission: Submission, ids: list[int]) -> str:
    text = loaded(
        "the tokenizer cannot decode the model's output",
        lambda: submission.tokenizer.decode(
            ids, skip_special_tokens=True, clean_up_tokenization_spaces=False
        ),
    )
    return text[:TEXT_CHARACTERS_MAX].encode("utf-8", "replace").decode()
