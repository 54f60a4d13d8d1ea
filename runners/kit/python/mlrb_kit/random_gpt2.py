"""A GPT-2 that was never trained: a reference model for scores, and one that is known to be good."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

HEADS, POSITIONS = 4, 1024
CONTROL_WIDTH, CONTROL_POSITIONS = 512, 4096  # a memory rule reads 2 000 tokens, whatever the model states
END = "<|endoftext|>"


def write_random_gpt2(
    folder: Path, bpe: "Tokenizer", *, seed: int, width: int, layers: int, positions: int = POSITIONS
) -> None:
    """Writes the model over the tokens of `bpe`, which gets an end token, and its tokenizer."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe, bos_token=END, eos_token=END, clean_up_tokenization_spaces=False
    )
    end = tokenizer.convert_tokens_to_ids(END)  # added after the text's own
    torch.manual_seed(seed)
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=positions,
        n_embd=width,
        n_layer=layers,
        n_head=HEADS,
        bos_token_id=end,
        eos_token_id=end,
    )
    GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def write_control(folder: Path, size: int) -> None:
    """A GPT-2 of about `size` bytes with a tokenizer of single bytes, which every stage can judge."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    bpe = Tokenizer(models.BPE(vocab={letter: at for at, letter in enumerate(letters)}, merges=[]))
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    layers = max(1, size // (12 * CONTROL_WIDTH * CONTROL_WIDTH * 4))
    write_random_gpt2(folder, bpe, seed=0, width=CONTROL_WIDTH, layers=layers, positions=CONTROL_POSITIONS)
