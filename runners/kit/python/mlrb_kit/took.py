"""How long a stage took, for stages whose time is charged: those that declare the output `took`."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from mlrb_kit.canonical import write_canonical
from mlrb_kit.stage import Stage


@contextmanager
def charged(stage: Stage) -> Iterator[None]:
    began = time.monotonic()
    yield
    if "took" in stage.outputs:
        write_canonical(stage.output("took"), {"formatVersion": 1, "seconds": time.monotonic() - began})
