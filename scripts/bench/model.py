"""Makes a GPT-2 with random weights over byte-level BPE tokens (2 000) of a text, for the bench.

By hand: PYTHONPATH=runners/kit/python:scorers/library python scripts/bench/model.py
    --param seed=1 --param width=128 --param layers=2 --input tokenizer=FILE --output model=DIR
and, to make the tokenizer: … --input public=DIR --output tokenizer=FILE
"""

from tokenizers import Tokenizer

from mlrb_kit.random_gpt2 import write_random_gpt2
from mlrb_kit.stage import read_stage
from scorer_library.ngram import read_public, train_bpe


def main() -> None:
    stage = read_stage()
    if "tokenizer" in stage.outputs:
        train_bpe(read_public(stage.input("public"))).save(str(stage.output("tokenizer")))
        return
    bpe = Tokenizer.from_file(str(stage.input("tokenizer")))
    numbers = {name: int(stage.param(name)) for name in ("seed", "width", "layers")}
    write_random_gpt2(stage.output("model"), bpe, **numbers)


if __name__ == "__main__":
    main()
