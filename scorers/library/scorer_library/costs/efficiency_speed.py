"""Times one submission and counts its compute per token. memory.measure_fresh starts it by exec; see
scorers/efficiency."""

import statistics
import time
from pathlib import Path
from typing import Any

from mlrb_kit.device import device_name, finished, on_gpu
from mlrb_kit.submission import check_files, context_of, load_model, vocabulary_of
from scorer_library.costs.efficiency import compute_a_token, stored_size
from scorer_library.costs.memory import answer_fresh
from scorer_library.costs.memory_use import check_usable, fitted, prepare, token_ids, write_tokens


def measure(folder: Path, settings: dict[str, int]) -> dict[str, Any]:
    stored = check_files(folder)
    prepare(folder)
    model = load_model(folder, stored)
    _, given, new = fitted(settings["promptTokens"], settings["newTokens"], context_of(model))
    ids = token_ids(given, vocabulary_of(model))
    write_tokens(model, ids, min(2, new))  # the first pass is slower than all others
    first = [seconds(model, ids, 1) for _ in range(settings["repeats"])]
    whole = [seconds(model, ids, new) for _ in range(settings["repeats"])]
    latency, total = statistics.median(first), statistics.median(whole)
    check_usable(folder, model)
    return {
        **stored_size(folder),
        **compute_a_token(folder, settings["computeTokens"]),
        "latencySeconds": latency,
        "tokensPerSecond": new / total,
        "firstTokenSeconds": first,
        "allTokensSeconds": whole,
        "promptTokens": given,
        "newTokens": new,
        **({"device": device_name()} if on_gpu() else {}),
    }


def seconds(model: Any, ids: list[int], count: int) -> float:
    finished()
    begin = time.perf_counter()
    write_tokens(model, ids, count)
    finished()
    return time.perf_counter() - begin


if __name__ == "__main__":
    answer_fresh(measure)
