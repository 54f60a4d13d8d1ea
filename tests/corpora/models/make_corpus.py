"""Makes the models on which rules are measured: honest ones, near-misses and cheats (ADR 52).

python make_corpus.py FOLDER [NAME…]; python make_corpus.py --list names the honest ones and the near-misses.
With --model DIR, a folder of SmolLM2-135M-Instruct, also the copies of that model.
"""

import argparse
import json
import os
import sys
from pathlib import Path

from members import Member, write_members

REPOSITORY = Path(__file__).parents[3]
sys.path.append(str(REPOSITORY / "scorers/library/tests"))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--model", type=Path)
    asked = parser.parse_args()
    members = all_members(asked.model)
    if asked.list:
        print(json.dumps([member.name for member in members if member.kind != "cheat"]))
        return
    if asked.folder is None:
        parser.error("name the folder to write")
    if unknown := set(asked.names) - {member.name for member in members}:
        parser.error(f"the corpus has no {', '.join(sorted(unknown))}")
    wanted = [member for member in members if not asked.names or member.name in asked.names]
    write_members(asked.folder, wanted)


def all_members(model: Path | None) -> list[Member]:
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error", TOKENIZERS_PARALLELISM="false")
    import torch

    torch.set_num_threads(1)
    from causal_models import tokenizer_of

    from mlrb_kit.submission import without_compiler

    without_compiler()
    from cheats import dtype_members, look_ahead_members, memory_members
    from honest import honest_members
    from known_model import known_model_members

    text = (REPOSITORY / "LICENSE").read_text(encoding="utf-8")  # the text must not change with the docs
    texts = [text[start : start + 256] for start in range(0, len(text), 256)]
    tokenizer = tokenizer_of(texts)
    return [
        *look_ahead_members(texts, tokenizer),
        *memory_members(tokenizer),
        *dtype_members(texts, tokenizer),
        *(known_model_members(model, texts, tokenizer) if model else []),
        *honest_members(texts, tokenizer),
    ]


if __name__ == "__main__":
    main()
