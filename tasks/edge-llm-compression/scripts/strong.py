"""What a researcher would hand in: the blocks taken out that change their input least.

Block influence: 1 - cosine similarity of what goes into a block and what comes out, averaged over tokens
(Men et al., "ShortGPT: Layers in Large Language Models are More Redundant Than You Expect", 2024,
arXiv:2403.03853). One reading of the whole model ranks all blocks.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from compress import TAKEN_OUT, Blocks, Method, evenly_spaced, run
from library.device import device
from library.llama import Llama


@torch.inference_mode()
def choose(model: Llama, rows: list[Tensor], out_of_time: Callable[[], bool]) -> tuple[Blocks, int]:
    blocks = model.model.layers
    influence = torch.zeros(len(blocks))

    def watch(at: int) -> Callable[[Any, tuple[Tensor, ...], Tensor], None]:
        def note(_block: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
            alike = F.cosine_similarity(inputs[0][0, 1:], output[0, 1:], dim=-1)  # BOS is like no other token
            influence[at] += (1 - alike).sum().cpu()

        return note

    hooks = [block.register_forward_hook(watch(at)) for at, block in enumerate(blocks)]
    tokens = 0
    for row in rows:
        if out_of_time():
            break
        model.model(row[None].to(device()))  # no logits needed
        tokens += len(row)
    for hook in hooks:
        hook.remove()
    if tokens == 0:
        return evenly_spaced(len(blocks), 1), 0
    scores = (influence / tokens).tolist()
    print("influence of blocks: " + " ".join(f"{score:.3f}" for score in scores), flush=True)
    return sorted(sorted(range(len(blocks)), key=scores.__getitem__)[:TAKEN_OUT]), tokens


if __name__ == "__main__":
    run(
        Method(
            name="script-strong",
            hypothesis="a block that hardly turns its input can be spared, wherever it stands",
            change="the 8 blocks of least influence on calibration text taken out",
            choose=choose,
        )
    )
