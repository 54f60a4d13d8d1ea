"""What one would hand in after a quick read: a low-rank adapter with default settings, on the text as it is.

Peft's default matrices and scale, the rate that is usual for them, the loss on every token. Nothing in it is
broken; its steps are those of a training of hundreds, and the questions take most of them.
"""

from train import Method, run

if __name__ == "__main__":
    run(
        Method(
            name="script-weak",
            hypothesis="an adapter with default settings, trained on the text, knows its answers",
            change="none: LoRA on q and v, alpha 8, batch 8, constant rate 2e-4, loss on all tokens",
            batch=8,
            matrices=["q_proj", "v_proj"],
            alpha=8,
            rate=2e-4,
            rate_factor=lambda _step, _steps: 1.0,
            answers_only=False,
        )
    )
