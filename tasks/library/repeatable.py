"""The same bytes again from the same seed, on the same machine."""

import os

import torch


def repeatable() -> None:
    """One thread, and of every operation the form that sums in one order."""
    torch.set_num_threads(1)
    # without it cuBLAS sums in an order of its own, and the next line makes torch refuse to use it at all
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True)
    # on by default with the line above: every new tensor is filled before it is written, a twelfth of a small
    # model's training, for programs that read memory that they never wrote
    torch.utils.deterministic.fill_uninitialized_memory = False
