"""Makes the models that agents merge: the base model, and one trained expert for each domain.

An expert is the base model with a low-rank adapter (Hu et al. 2021), trained on its domain's private facts
and merged into whole weights, so agents get its knowledge only as weights. The budget counts steps, not
seconds, and one thread in a fixed order makes the same bytes on each run on a machine. By hand:
    PYTHONPATH=runners/kit/python python tasks/llm-merging/experts.py --input base=DIR --input private=DIR
        --output models=DIR
"""

import json
import math
import shutil
from pathlib import Path
from typing import Any

from mlrb_kit.device import device
from mlrb_kit.stage import read_stage

SEED = 0
STEPS, BATCH = 16, 6
RATE, WARM_UP = 6e-3, 3
RANK, ALPHA = 8, 16
MATRICES = ["gate_proj", "up_proj", "down_proj"]


def main() -> None:
    stage = read_stage()
    base, models = stage.input("base"), stage.output("models")
    facts = sorted((stage.input("private") / "experts").glob("*.jsonl"))
    if not facts:
        raise SystemExit("private/experts holds no JSON Lines: the data stage is at fault")
    shutil.copytree(base, models / "base", copy_function=shutil.copy)
    for path in facts:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        make_expert(base, models / f"{path.stem}-expert", path.stem, rows)


def make_expert(base: Path, folder: Path, subject: str, rows: list[dict[str, str]]) -> None:
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    tokenizer = AutoTokenizer.from_pretrained(base, local_files_only=True)
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32, local_files_only=True)
    adapted = get_peft_model(
        model.to(device()), LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules=MATRICES)
    )
    train(adapted, [encoded(tokenizer, row) for row in rows], subject)
    adapted.merge_and_unload().save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def encoded(tokenizer: Any, row: dict[str, str]) -> tuple[list[int], list[int]]:
    """The ids of a question, and the ids of its answer. Only the answer is learnt."""
    question = tokenizer.encode(f"Question: {row['question']}\nAnswer:", add_special_tokens=False)
    return question, tokenizer.encode(f" {row['answer']}", add_special_tokens=False)


def train(adapted: Any, rows: list[tuple[list[int], list[int]]], subject: str) -> None:
    import torch
    from torch.nn import functional as F

    model = adapted.get_base_model()
    parameters = [parameter for parameter in adapted.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=RATE, weight_decay=0.0)
    order: list[int] = []
    for step in range(STEPS):
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1.0, (step + 1) / WARM_UP) * (1 - step / STEPS)
        if len(order) < BATCH:
            order += torch.randperm(len(rows)).tolist()
        batch, order = [rows[at] for at in order[:BATCH]], order[BATCH:]
        longest = max(len(question) + len(answer) for question, answer in batch) - 1
        inputs = torch.zeros(BATCH, longest, dtype=torch.long)  # causal attention ignores the padding
        targets = torch.full((BATCH, longest), -1)
        for at, (question, answer) in enumerate(batch):
            ids = torch.tensor(question + answer)
            inputs[at, : len(ids) - 1] = ids[:-1]
            targets[at, len(question) - 1 : len(ids) - 1] = ids[len(question) :]
        inputs, targets = inputs.to(device()), targets.to(device())
        learnt = targets >= 0
        # logits for answer positions only: a position has 49 152 of them
        logits = model.lm_head(model.model(inputs).last_hidden_state[learnt])
        loss = F.cross_entropy(logits.float(), targets[learnt])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if step % 8 == 7 and not math.isfinite(loss.item()):
            raise SystemExit(f"the loss of {subject} is {loss.item()} after {step + 1} steps")
        print(f"{subject}: step {step + 1}/{STEPS} loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
