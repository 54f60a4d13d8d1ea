"""What a given tensor is like with its rows and columns in an order that was found."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from scorer_library.identity.alike import Alike, alike
from scorer_library.identity.reorder import Order
from scorer_library.identity.versions import Change
from scorer_library.identity.work import Work

FindOrder = Callable[[Tensor, Tensor, Work], Order | None]


@dataclass(frozen=True)
class Found:
    """The nearest given tensor."""

    tensor: str
    by: str
    measured: Alike
    repeated: float = 0.0
    change: Change | None = None  # makes the version that was compared; None: it is of several tensors


@dataclass(frozen=True)
class Ordered:
    """What a version is like with its rows and columns in an order that was found."""

    measured: Alike
    repeated: float  # the largest share of rows or columns that show no order
    order: Change

    def of(self, tensor: str, by: str, change: Change) -> Found:
        return Found(tensor, by, self.measured, self.repeated, lambda theirs: self.order(change(theirs)))


def stacked(own: Tensor, version: Tensor, find: FindOrder, work: Work) -> Ordered | None:
    """Of experts in one tensor: each is compared with each."""
    orders: list[Order] = []
    taken: list[int] = []
    used: set[int] = set()  # a list would be searched for each given expert
    repeated = 0.0
    for at, matrix in enumerate(own):
        for other in sorted(range(len(version)), key=lambda other: (other in used, other != at)):
            order = find(matrix, version[other], work)
            if order is not None:
                orders.append(order)
                repeated = max(repeated, order.repeated(), float(other in used))
                taken.append(other)
                used.add(other)
                break
        else:
            return None

    def of(given: Tensor) -> Tensor:
        return torch.stack([order.of(given[other]) for order, other in zip(orders, taken, strict=True)])

    return Ordered(alike(own, of(version)), repeated, of)
