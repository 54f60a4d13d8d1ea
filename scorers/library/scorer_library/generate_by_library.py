"""Lets a model write by transformers' generate(), which knows how each model type keeps its cache.

A submission's own generation settings would fill gaps of the given ones, so they are away meanwhile.
"""

from typing import Any

from mlrb_kit.device import device
from mlrb_kit.rejected import Rejected


def generate_by_library(model: Any, given: list[int], settings: dict[str, Any], **more: Any) -> Any:
    """Continues the ids `given`. `settings` are those of a GenerationConfig; `more` goes to generate()."""
    import torch
    from transformers import GenerationConfig

    ids = torch.tensor([given], device=device())
    stated, model.generation_config = getattr(model, "generation_config", None), GenerationConfig()
    try:
        with torch.inference_mode():
            return model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                generation_config=GenerationConfig(pad_token_id=0, **settings),
                **more,
            )
    finally:
        model.generation_config = stated


def within(vocabulary: int, *, finite: bool = False) -> Any:
    """A logits processor that keeps the tokens which the model can read: a head may have more outputs.

    `finite`: it raises Rejected at the first output that is not."""
    import torch
    from transformers import LogitsProcessor

    class Within(LogitsProcessor):
        def __call__(self, input_ids: Any, scores: Any) -> Any:
            if finite and not torch.isfinite(scores).all():
                raise Rejected("non-finite output")
            return scores[:, :vocabulary]

    return Within()
