"""Times sampled texts of 200 tokens, as agent-eval writes them (defined in README.md)."""

import time
from typing import Any

import numpy as np

from mlrb_kit.device import device, finished
from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import Submission, blame

PROMPT = "Hello my name is Matt. I am getting in touch with you because i didn't get a response from you."
TOKENS = 200  # of prompt and answer together
LATENCY_TOKENS = 512  # agent-eval divides by it, though it writes fewer tokens


def measure_speed(submission: Submission, settings: dict[str, int]) -> dict[str, Any]:
    prompt = submission.encode(PROMPT)
    if len(prompt) >= TOKENS:
        raise Rejected(f"the tokenizer gives {len(prompt)} tokens for agent-eval's prompt of 95 letters")
    for run in range(settings["warmups"]):
        seconds(submission, prompt, run)
    times = [seconds(submission, prompt, run) for run in range(settings["runs"])]
    return speeds(times, TOKENS - len(prompt))


def speeds(times: list[float], new_tokens: int) -> dict[str, Any]:
    """`times`: seconds of each run. `new_tokens`: those of a run that are not the prompt's."""
    rates = TOKENS / np.array(times)
    latencies = np.array(times) * 1000 / LATENCY_TOKENS
    return {
        "tokensPerSecond": float(rates.mean()),
        "tokensPerSecondP90": float(np.percentile(rates, 90)),
        "tokensPerSecondP95": float(np.percentile(rates, 95)),
        "latencyMs": float(latencies.mean()),
        "latencyMsP90": float(np.percentile(latencies, 90)),
        "latencyMsP95": float(np.percentile(latencies, 95)),
        "newTokenMs": float(np.mean(times)) * 1000 / new_tokens,
    }


def seconds(submission: Submission, prompt: list[int], seed: int) -> float:
    import torch

    torch.manual_seed(seed)
    finished()
    begin = time.perf_counter()
    write(submission, prompt)
    finished()
    return time.perf_counter() - begin


def write(submission: Submission, prompt: list[int]) -> None:
    """Always to the last token: a text that ends early would be faster."""
    import torch
    from transformers import GenerationConfig

    model = submission.model
    model.generation_config = GenerationConfig()  # a submission's own settings would fill gaps
    ids = torch.tensor([prompt], device=device())
    settings = GenerationConfig(
        max_length=TOKENS,
        do_sample=True,
        temperature=0.8,
        top_k=300,
        pad_token_id=0,
    )
    with torch.inference_mode(), blame("the model fails to write text"):
        model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            generation_config=settings,
            logits_processor=[within(submission.vocabulary)],
        )


def within(vocabulary: int) -> Any:
    """Keeps the tokens that the model can read: a head may have more outputs."""
    from transformers import LogitsProcessor

    class Within(LogitsProcessor):
        def __call__(self, input_ids: Any, scores: Any) -> Any:
            return scores[:, :vocabulary]

    return Within()
