"""The base model's architecture with a few thousand weights and its own tokens, for tests."""

from transformers import LlamaConfig, PreTrainedTokenizerFast

from library.bpe import END, train_tokenizer


def tiny_llama(texts: list[str]) -> tuple[LlamaConfig, PreTrainedTokenizerFast]:
    bpe = train_tokenizer(texts, 400)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, bos_token=END, eos_token=END)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        tie_word_embeddings=True,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    return config, tokenizer
