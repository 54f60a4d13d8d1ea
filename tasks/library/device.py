"""Where a model is trained: on the GPU that the attempt holds (MLRB_GPUS), else on the processor.

Weights stay in F32 in both, and chance is drawn on the processor, so that a seed gives the same data in the
same order; on a GPU that knows it, products are of BF16 numbers.
"""

import os
from contextlib import AbstractContextManager, nullcontext

import torch


def device() -> torch.device:
    """Ends the program where a GPU is held and torch sees none: never the processor instead."""
    held = int(os.environ.get("MLRB_GPUS") or 0)
    if held < 1:
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise SystemExit(
            f"this attempt holds {held} GPU(s) and torch {torch.__version__} sees none: "
            "its build has no CUDA, or the driver is too old for it (nvidia-smi tells)"
        )
    return torch.device("cuda")


def dtype() -> torch.dtype:
    """Of products; that of sums and weights is always F32."""
    fast = device().type == "cuda" and torch.cuda.is_bf16_supported()
    return torch.bfloat16 if fast else torch.float32


def products() -> AbstractContextManager[object]:
    """What a pass forward runs in."""
    return nullcontext() if dtype() == torch.float32 else torch.autocast("cuda", dtype=dtype())
