"""Makes the corpus on which `task check` measures rules: honest models, near-misses and cheats (ADR 49).

By hand: PYTHONPATH=runners/kit/python:scorers/library python scorers/corpus/make_corpus.py
    --output corpus=DIR --param members=null
"""

import os
import sys
from pathlib import Path

from mlrb_kit.stage import read_stage

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
    from members import write_members

    text = stage.source_file("LICENSE").read_text(encoding="utf-8")  # the text must not change with the docs
    texts = [text[start : start + 256] for start in range(0, len(text), 256)]
    tokenizer = tokenizer_of(texts)
    members = [
        *look_ahead_members(texts, tokenizer),
        *memory_members(tokenizer),
        *dtype_members(texts, tokenizer),
        *honest_members(texts, tokenizer),
    ]
    wanted = stage.param("members")
    if unknown := set(wanted or ()) - {member.name for member in members}:
        raise SystemExit(f"params.members: the corpus has no {', '.join(sorted(unknown))}")
    chosen = [member for member in members if wanted is None or member.name in wanted]
    write_members(stage.output("corpus"), chosen)


if __name__ == "__main__":
    main()
