"""Times sampled texts of 200 tokens, as agent-eval writes them (defined in README.md)."""

import time
from typing import Any

import numpy as np

from mlrb_kit.device import finished
from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import Submission, blame
from scorer_library.generate_by_library import generate_by_library, within

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
    settings = {"max_length": TOKENS, "do_sample": True, "temperature": 0.8, "top_k": 300}
    with blame("the model fails to write text"):
        generate_by_library(
            submission.model, prompt, settings, logits_processor=[within(submission.vocabulary)]
        )
