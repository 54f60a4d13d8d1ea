"""A training run that never changes, to measure how fast this machine is now. Prints its seconds.

Speeds of machines, and of one machine on different days, differ by a factor of two. The time of a long run
over the time of this one differs less. One thread and matrices of the smoke run's sizes: half of the steps
are a small model's, half read as many weights as one pass of 135 million parameters.
"""

import time

import torch
from torch.nn import functional as F


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    small = [torch.randn(shape, requires_grad=True) for shape in ((128, 512), (512, 128), (128, 2000))]
    large = torch.randn(49_152, 576)
    ids = torch.randint(2000, (1024,))
    begun = time.perf_counter()
    for _ in range(100):
        x = torch.randn(1024, 128)
        loss = F.cross_entropy((F.gelu(x @ small[0]) @ small[1] + x) @ small[2] * 0.01, ids)
        gradients = torch.autograd.grad(loss, small)
        for weight, gradient in zip(small, gradients, strict=True):
            weight.data -= 0.1 * gradient
        for _ in range(4):
            torch.randn(16, 576) @ large.T
    print(time.perf_counter() - begun)


if __name__ == "__main__":
    main()
