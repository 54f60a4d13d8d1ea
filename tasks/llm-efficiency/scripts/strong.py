"""What a researcher would hand in: the rows spent on the answers alone, where facts are kept, in bold steps.

How questions are put need not be learnt, so the loss is on answers. Facts are found in the MLP layers (Meng
et al., "Locating and Editing Factual Associations in GPT", 2022, arXiv:2202.05262): the adapter goes there.
A budget this short asks for many steps at a high rate, held long after a warm-up and let down at the end.
"""

from train import Method, run

WARM_UP_STEPS = 3
DECAY_SHARE = 1 / 3  # of the steps, at the end


def rate_factor(step: int, steps: int) -> float:
    return min(1.0, (step + 1) / WARM_UP_STEPS) * min(1.0, (steps - step) / (steps * DECAY_SHARE))


if __name__ == "__main__":
    run(
        Method(
            name="script-strong",
            hypothesis="facts are learnt soonest by bold steps of the MLP layers towards the answers alone",
            change="loss on answers; LoRA on gate, up, down; alpha 16, batch 2, 6e-3 with warm-up and decay",
            batch=2,
            matrices=["gate_proj", "up_proj", "down_proj"],
            alpha=16,
            rate=6e-3,
            rate_factor=rate_factor,
            answers_only=True,
        )
    )
