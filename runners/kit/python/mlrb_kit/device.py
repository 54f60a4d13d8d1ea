"""Where models run: on the GPU that this stage holds (MLRB_GPUS, by the runner), else on the processor.

One code path for both: models and ids are put where `device` says, chance stays on the processor, so that
data come in the same order, and what is written to disk is moved back. Programs in an agent's workspace do
not see the kit; tasks/library/device.py is theirs.
"""

import os
from typing import Any

GPUS = "MLRB_GPUS"


class NoGpu(RuntimeError):
    """A GPU is held and cannot be used: not measured, and never on the processor instead."""


def gpus_held() -> int:
    return int(os.environ.get(GPUS) or 0)


def device() -> Any:
    """A torch.device. Raises NoGpu where this stage holds a GPU and torch sees none."""
    import torch

    if gpus_held() < 1:
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise NoGpu(
            f"this stage holds {gpus_held()} GPU(s) and torch {torch.__version__} sees none: "
            "its build has no CUDA, or the driver is older than that (nvidia-smi tells); "
            "lock an environment with a CUDA build of torch, or choose a profile without GPUs"
        )
    return torch.device("cuda")


def on_gpu() -> bool:
    return device().type == "cuda"


def device_name() -> str:
    """The GPU's as its driver calls it, or `cpu`."""
    import torch

    return torch.cuda.get_device_name() if on_gpu() else "cpu"


def finished() -> None:
    """Returns once everything that was asked of the device is done: before that a clock tells nothing."""
    import torch

    if on_gpu():
        torch.cuda.synchronize()


def restart_gpu_peak() -> int:
    """Forgets the peak so far; gives the bytes of tensors that lie on the GPU now."""
    import torch

    finished()
    torch.cuda.reset_peak_memory_stats()
    return torch.cuda.memory_allocated()


def gpu_peak_bytes() -> int:
    """The most bytes of tensors on the GPU since restart_gpu_peak; without CUDA's own and what torch keeps
    for later, which differ from driver to driver."""
    import torch

    finished()
    return torch.cuda.max_memory_allocated()
