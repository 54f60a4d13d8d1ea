"""What a model needs for a memory rule's recipe, by torch's record of its allocations.

Independent of the stage `memory`, which asks the operating system about a process. Of the recipe of
edge-llm-training's smoke version.
"""

from itertools import accumulate
from pathlib import Path
from typing import Any

from mlrb_kit.device import on_gpu

TOKENS = 2000
NEW_TOKENS = 4  # a cache for more tokens grows by kilobytes here
LIMIT_BYTES = 120_000_000
CLEAR = 0.1  # of the limit: a need nearer to it decides nothing


def keeps_limit(folder: Path) -> bool:
    """Whether the model clearly fits. One that does not is no honest model of the rule, and no cheat."""
    return allocated_bytes(folder) <= (1 - CLEAR) * LIMIT_BYTES


def allocated_bytes(folder: Path) -> int:
    """The most bytes that torch holds for the model while it reads TOKENS in one pass and writes."""
    import torch
    from torch.profiler import ProfilerActivity, profile
    from transformers import AutoModelForCausalLM

    if on_gpu():
        raise SystemExit("the corpus is made without a GPU: only the CPU's allocations are recorded")
    model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype="auto")  # as stored
    held = {
        tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes() for tensor in weights(model)
    }
    ids = torch.arange(TOKENS)[None] % model.get_input_embeddings().weight.shape[0]
    with torch.inference_mode(), profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        model(input_ids=ids, use_cache=False)
        model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=NEW_TOKENS)
    events = [event for event in record.profiler.kineto_results.events() if event.name() == "[memory]"]
    events.sort(key=lambda event: event.start_ns())
    return sum(held.values()) + max(accumulate((event.nbytes() for event in events), initial=0))


def weights(model: Any) -> list[Any]:
    return [*model.parameters(), *model.buffers()]
