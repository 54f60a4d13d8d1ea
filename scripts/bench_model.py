"""Makes a GPT-2 with random weights over byte-level BPE tokens (2 000) of a text, for the bench to score.

By hand: PYTHONPATH=runners/kit/python:scorers/library python scripts/bench_model.py
    --param seed=1 --param width=128 --param layers=2 --input tokenizer=FILE --output model=DIR
and, to make the tokenizer: … --input public=DIR --output tokenizer=FILE
"""

from pathlib import Path

from mlrb_kit.stage import Stage, read_stage
from scorer_library.ngram import read_public, train_bpe

HEADS, POSITIONS = 4, 1024
END = "<|endoftext|>"


def main() -> None:
    stage = read_stage()
    if "tokenizer" in stage.outputs:
        train_bpe(read_public(stage.input("public"))).save(str(stage.output("tokenizer")))
    else:
        write_model(stage, stage.output("model"))


def write_model(stage: Stage, folder: Path) -> None:
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(stage.input("tokenizer")),
        bos_token=END,
        eos_token=END,
        clean_up_tokenization_spaces=False,
    )
    end = tokenizer.convert_tokens_to_ids(END)  # added after the text's own
    torch.manual_seed(int(stage.param("seed")))
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=POSITIONS,
        n_embd=int(stage.param("width")),
        n_layer=int(stage.param("layers")),
        n_head=HEADS,
        bos_token_id=end,
        eos_token_id=end,
    )
    GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    main()
