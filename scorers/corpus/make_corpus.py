"""Makes the corpus on which `task check` measures rules: honest models, near-misses and cheats (ADR 49).

By hand: PYTHONPATH=runners/kit/python:scorers/library python scorers/corpus/make_corpus.py
    --input model=DIR --output corpus=DIR --param members=null
"""

import os
import random
import sys
from pathlib import Path

from members import DTYPE, LOOK_AHEAD, SCRATCH, Member, write_members
from mlrb_kit.stage import read_stage

HONEST_SAMPLE = 3  # models of a sample

sys.path.append(str(Path(__file__).parents[1] / "library/tests"))


def main() -> None:
    stage = read_stage()
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error", TOKENIZERS_PARALLELISM="false")
    import torch

    torch.set_num_threads(1)
    from causal_models import tokenizer_of

    from mlrb_kit.submission import without_compiler

    without_compiler()
    from cheats import dtype_members, look_ahead_members, memory_members
    from honest import honest_members
    from known_model import known_model_members

    text = stage.source_file("LICENSE").read_text(encoding="utf-8")  # the text must not change with the docs
    texts = [text[start : start + 256] for start in range(0, len(text), 256)]
    tokenizer = tokenizer_of(texts)
    members = [
        *look_ahead_members(texts, tokenizer),
        *memory_members(tokenizer),
        *dtype_members(texts, tokenizer),
        *known_model_members(stage.input("model"), texts, tokenizer),
        *honest_members(texts, tokenizer),
    ]
    write_members(stage.output("corpus"), chosen(members, stage.param("members")))


def chosen(members: list[Member], wanted: list[str] | int | None) -> list[Member]:
    """All, those of the names, or by a seed: the cheats of one rule, a near-miss and a few honest models."""
    if wanted is None:
        return members
    if isinstance(wanted, int):
        rng = random.Random(wanted)
        rule = rng.choice([LOOK_AHEAD, DTYPE, SCRATCH])  # only some tasks have a memory rule
        honest = [member for member in members if member.kind == "honest"]
        near = [member for member in members if member.kind == "near-miss"]
        cheats = [member for member in members if member.kind == "cheat" and member.rules == (rule,)]
        return [*cheats, *rng.sample(near, 1), *rng.sample(honest, HONEST_SAMPLE)]
    if unknown := set(wanted) - {member.name for member in members}:
        raise SystemExit(f"params.members: the corpus has no {', '.join(sorted(unknown))}")
    return [member for member in members if member.name in wanted]


if __name__ == "__main__":
    main()
