"""The device of models: the GPU that this stage holds (MLRB_GPUS, set by the runner), else the CPU.

One code path for both: models and ids are put on `device`, random numbers are drawn on the CPU, so that data
come in the same order, and data for disk are moved back. Programs in an agent's workspace do not use
the kit; they use tasks/library/device.py.
"""

import os
from typing import Any

GPUS = "MLRB_GPUS"


class NoGpu(RuntimeError):
    """The held GPU cannot be used: not measured, and never measured on the CPU instead."""

    of_machine = True


def gpus_held() -> int:
    return int(os.environ.get(GPUS) or 0)


def device() -> Any:
    """A torch.device. Raises NoGpu if this stage holds a GPU and torch sees none."""
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
    """The driver's name of the GPU, or `cpu`."""
    import torch

    return torch.cuda.get_device_name() if on_gpu() else "cpu"


def finished() -> None:
    """Waits until the device has finished all work, so that a clock can be read."""
    import torch

    if on_gpu():
        torch.cuda.synchronize()


def restart_gpu_peak() -> int:
    """Resets the peak and returns the bytes of tensors on the GPU now."""
    import torch

    finished()
    torch.cuda.reset_peak_memory_stats()
    return torch.cuda.memory_allocated()


def gpu_peak_bytes() -> int:
    """The peak bytes of tensors on the GPU since restart_gpu_peak. Excludes memory of CUDA and torch's
    cache, which differ between drivers."""
    import torch

    finished()
    return torch.cuda.max_memory_allocated()
