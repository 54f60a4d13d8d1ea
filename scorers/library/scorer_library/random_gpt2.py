"""A GPT-2 that was never trained: a reference model for scores, and something to score for the bench."""

from pathlib import Path

from tokenizers import Tokenizer

HEADS, POSITIONS = 4, 1024
END = "<|endoftext|>"


def write_random_gpt2(folder: Path, bpe: Tokenizer, *, seed: int, width: int, layers: int) -> None:
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
        n_positions=POSITIONS,
        n_embd=width,
        n_layer=layers,
        n_head=HEADS,
        bos_token_id=end,
        eos_token_id=end,
    )
    GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
