"""A tokenizer of whole words and signs: the language is small, and a letter is always the same token."""

from tokenizers import Regex, Tokenizer, models, pre_tokenizers

from library.bpe import END

UNKNOWN = "<unk>"
# names with their dots, as in And.left; a full stop after a word is a token of its own
WORD = r"\w+(?:\.\w+)*|:=|=>|[^\w\s]"


def train_words(texts: list[str]) -> Tokenizer:
    """Every word of `texts`, in order of appearance. Decoding puts a space between two, as Lean allows."""
    split = pre_tokenizers.Split(Regex(WORD), behavior="removed", invert=True)
    words = dict.fromkeys(word for text in texts for word, _ in split.pre_tokenize_str(text))
    vocabulary = {word: at for at, word in enumerate([END, UNKNOWN, *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = split
    tokenizer.add_special_tokens([END, UNKNOWN])
    return tokenizer
