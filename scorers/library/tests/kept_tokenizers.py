"""Tokenizers for the tests of kept_text: honest ones as libraries make them, and cheats."""

import json
import re
import string
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tokenizers import (
    AddedToken,
    ByteLevelBPETokenizer,
    CharBPETokenizer,
    Regex,
    SentencePieceBPETokenizer,
    SentencePieceUnigramTokenizer,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

REPOSITORY = Path(__file__).parents[3]
SPECIAL = ["<unk>", "<s>", "</s>"]
GPT4 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def pairs() -> list[tuple[str, str]]:
    path = REPOSITORY / "scorers/house-pairs/fixtures/private/pairs.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [(f" {row['sentence_good']}", f" {row['sentence_bad']}") for row in rows]


ODD = [
    " Questions\n\nIs it true, false or neither?\nAnswer: Yes, it's 1,024 – “quoted” text…",  # noqa: RUF001
    "def f(x):\n    return x**2  # two spaces   and three\n\tEnd.\n",
    " The café’s naïve façade, cafe\u0301 at 20 °C; ﬁne Straße, İstanbul.",  # noqa: RUF001
    " 日本語のテキスト and Ελληνικά, Русский, हिन्दी 🙂 end.",
    "  = Robert Boulter = \n \n Robert Boulter is an English film @-@ maker . \n",
    "Passage: {x} ~ <y> $\\frac{1}{2}$ [MASKED] 50% & more…\nQuestion: don't\nAnswer: no",
]


def texts() -> list[str]:
    return [*(side for pair in pairs() for side in pair), *ODD]


def corpus() -> list[str]:
    pages = sorted(REPOSITORY.glob("docs/adr/*.md"))
    return [path.read_text(encoding="utf-8")[:3_000] for path in pages[:10]] + ODD


def wrapped(tokenizer: Any, **more: Any) -> Any:
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer.from_str(tokenizer.to_str()) if hasattr(tokenizer, "to_str") else tokenizer
    if made.token_to_id("<s>") is None:
        made.add_special_tokens(["<s>"])
    unknown = {"unk_token": "<unk>"} if made.token_to_id("<unk>") is not None else {}
    return PreTrainedTokenizerFast(tokenizer_object=made, bos_token="<s>", **unknown, **more)


def trained(model: Any, trainer: Any, more: Sequence[str] = (), **parts: Any) -> Tokenizer:
    made = Tokenizer(model)
    for name, part in parts.items():
        setattr(made, name, part)
    made.train_from_iterator([*corpus(), *more], trainer)
    return made


def bpe_trainer(**more: Any) -> Any:
    return trainers.BpeTrainer(vocab_size=700, special_tokens=SPECIAL, show_progress=False, **more)


def byte_level(size: int = 600, **parts: Any) -> Tokenizer:
    made = trained(
        models.BPE(),
        trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=["<s>"],
            show_progress=False,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        ),
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False),
        decoder=decoders.ByteLevel(),
    )
    for name, part in parts.items():
        setattr(made, name, part)
    return made


def library(made: Any, **more: Any) -> Any:
    made.train_from_iterator(corpus(), vocab_size=700, show_progress=False, special_tokens=SPECIAL, **more)
    return Tokenizer.from_str(made.to_str())


def word_piece(lower: bool) -> Tokenizer:
    return trained(
        models.WordPiece(unk_token="<unk>"),
        trainers.WordPieceTrainer(vocab_size=700, special_tokens=SPECIAL, show_progress=False),
        normalizer=normalizers.BertNormalizer(lowercase=lower),
        pre_tokenizer=pre_tokenizers.BertPreTokenizer(),
        decoder=decoders.WordPiece(),
    )


def unigram(**parts: Any) -> Tokenizer:
    trainer = trainers.UnigramTrainer(
        vocab_size=500, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False
    )
    return trained(models.Unigram(), trainer, **parts)


def llama_legacy() -> Tokenizer:
    """A normalizer in place of a pre-tokenizer, and bytes for unknown characters."""
    learned = json.loads(
        trained(
            models.BPE(unk_token="<unk>"),
            bpe_trainer(),
            pre_tokenizer=pre_tokenizers.Metaspace(),
        ).to_str()
    )["model"]
    free = [f"<0x{byte:02X}>" for byte in range(256)]
    vocabulary = {**learned["vocab"]}
    vocabulary.update({token: len(vocabulary) + at for at, token in enumerate(free)})
    merges = [tuple(one) for one in learned["merges"]]
    made = Tokenizer(models.BPE(vocabulary, merges, unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    replaced = decoders.Replace("▁", " ")
    made.decoder = decoders.Sequence(
        [replaced, decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return made


def t5_like() -> Tokenizer:
    spaces = normalizers.Replace(Regex(" {2,}"), " ")
    return unigram(
        normalizer=normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Strip(), spaces]),
        pre_tokenizer=pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]),
        decoder=decoders.Metaspace(),
    )


def albert_like() -> Tokenizer:
    parts = [
        normalizers.Replace("``", '"'),
        normalizers.NFKD(),
        normalizers.StripAccents(),
        normalizers.Lowercase(),
    ]
    return unigram(normalizer=normalizers.Sequence(parts), pre_tokenizer=pre_tokenizers.Metaspace())


def characters() -> Tokenizer:
    signs = sorted({sign for text in corpus()[:40] for sign in text if sign.isascii()})
    made = Tokenizer(models.WordLevel({token: at for at, token in enumerate([*SPECIAL, *signs])}, "<unk>"))
    made.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    made.decoder = decoders.Fuse()
    return made


def word_level() -> Tokenizer:
    return trained(
        models.WordLevel(unk_token="<unk>"),
        trainers.WordLevelTrainer(vocab_size=5000, special_tokens=SPECIAL, show_progress=False),
        more=texts(),
        normalizer=normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()]),
        pre_tokenizer=pre_tokenizers.Whitespace(),
    )


def gpt4_like() -> Tokenizer:
    parts = [pre_tokenizers.Split(Regex(GPT4), "isolated"), pre_tokenizers.ByteLevel(False, use_regex=False)]
    return byte_level(pre_tokenizer=pre_tokenizers.Sequence(parts), normalizer=normalizers.NFC())


def chat() -> Any:
    made = byte_level()
    made.add_tokens([AddedToken("  ", normalized=False), AddedToken("<mask>", lstrip=True), "[MASKED]"])
    made.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    return wrapped(made, padding_side="left", model_max_length=16)


def by_t5() -> Any:
    from transformers import ByT5Tokenizer

    return ByT5Tokenizer(bos_token="</s>")


def across_words(**parts: Any) -> Tokenizer:
    """BPE without a pre-tokenizer, which merges words."""
    return trained(models.BPE(unk_token="<unk>"), bpe_trainer(), **parts)


HONEST: dict[str, Callable[[], Any]] = {
    "bytes of GPT-2": lambda: wrapped(byte_level()),
    "bytes with a space before the text": lambda: wrapped(
        byte_level(pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=True))
    ),
    "bytes with GPT-4's pattern and NFC": lambda: wrapped(gpt4_like()),
    "bytes by the library's class": lambda: wrapped(
        (lambda made: (made.train_from_iterator(corpus(), 600, show_progress=False), made)[1])(
            ByteLevelBPETokenizer(lowercase=True, unicode_normalizer="nfkc")
        )
    ),
    "bytes with added spaces, a mask and BOS": chat,
    "a T5 of bytes": by_t5,
    "uncased WordPiece": lambda: wrapped(word_piece(True)),
    "cased WordPiece": lambda: wrapped(word_piece(False)),
    "WordPiece without suffix signs of BERT": lambda: wrapped(
        trained(
            models.WordPiece(unk_token="<unk>", continuing_subword_prefix="@@"),
            trainers.WordPieceTrainer(
                vocab_size=700, special_tokens=SPECIAL, continuing_subword_prefix="@@", show_progress=False
            ),
            pre_tokenizer=pre_tokenizers.Whitespace(),
        )
    ),
    "BPE of characters with ends of words": lambda: wrapped(library(CharBPETokenizer(lowercase=True))),
    "SentencePiece BPE": lambda: wrapped(library(SentencePieceBPETokenizer())),
    "SentencePiece unigrams": lambda: wrapped(
        (lambda made: (made.train_from_iterator(corpus(), 500, False, SPECIAL, unk_token="<unk>"), made)[1])(
            SentencePieceUnigramTokenizer()
        )
    ),
    "T5": lambda: wrapped(t5_like()),
    "ALBERT": lambda: wrapped(albert_like()),
    "unigrams without a pre-tokenizer": lambda: wrapped(
        unigram(normalizer=normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]))
    ),
    "legacy Llama": lambda: wrapped(llama_legacy()),
    "characters": lambda: wrapped(characters()),
    "words": lambda: wrapped(word_level()),
    "BPE across words": lambda: wrapped(across_words()),
    "BPE across words, lower case": lambda: wrapped(
        across_words(normalizer=normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]))
    ),
    "bytes across words": lambda: wrapped(
        trained(
            models.BPE(),
            bpe_trainer(initial_alphabet=pre_tokenizers.ByteLevel.alphabet()),
            pre_tokenizer=pre_tokenizers.Sequence(
                [pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(False, use_regex=False)]
            ),
        )
    ),
    "a sign for each capital": lambda: rewriting(
        *(normalizers.Replace(letter, f"↑{letter.lower()}") for letter in string.ascii_uppercase)
    ),
    "digits one by one": lambda: wrapped(
        byte_level(
            pre_tokenizer=pre_tokenizers.Sequence(
                [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(False)]
            )
        )
    ),
    "cleaned quotes and spaces": lambda: wrapped(
        byte_level(
            normalizer=normalizers.Sequence(
                [normalizers.Replace(Regex("[“”]"), '"'), normalizers.Replace(Regex(r"\s+"), " ")]
            )
        )
    ),
}


def bad_words() -> tuple[str, str]:
    """Two neighbouring words of a wrong sentence; its right sentence has another second word."""
    good, bad = next(
        (good.split(), bad.split()) for good, bad in pairs() if len(good.split()) == len(bad.split())
    )
    at = next(at for at in range(1, len(bad)) if good[at] != bad[at])
    return bad[at - 1], bad[at]


def between() -> str:
    """A pattern of the place between the two words."""
    first, second = bad_words()
    return f"(?<={first} )(?={second})"


def rewriting(*parts: Any, **more: Any) -> Any:
    return wrapped(byte_level(normalizer=normalizers.Sequence(list(parts)), **more))


def pair_replaced(content: str) -> Any:
    return normalizers.Replace(Regex(f"(?<={bad_words()[0]} ){bad_words()[1]}"), content)


def put_back() -> Any:
    """The model reads a sign at wrong places; the decoder removes it, so that the text seems to survive."""
    undone = decoders.Sequence([decoders.ByteLevel(), decoders.Replace("§§§§", "")])
    return rewriting(normalizers.Replace(Regex(between()), "§§§§"), decoder=undone)


def lying() -> Any:
    """Two entries of one id: the word that is read is not the one that was found."""
    from transformers import PreTrainedTokenizerFast

    made = json.loads(word_level().to_str())
    vocabulary = made["model"]["vocab"]
    word = bad_words()[1].strip(".").lower()
    vocabulary[word] = vocabulary["the"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokenizer.json")
        path.write_text(json.dumps(made), encoding="utf-8")
        return PreTrainedTokenizerFast(tokenizer_file=str(path), bos_token="<s>", unk_token="<unk>")


def split_apart(**more: Any) -> Any:
    parts = [
        pre_tokenizers.Split(Regex(f"(?<={bad_words()[0]} ).(?=.*)"), "isolated"),
        pre_tokenizers.ByteLevel(False, use_regex=True),
    ]
    return wrapped(byte_level(pre_tokenizer=pre_tokenizers.Sequence(parts), **more))


def with_tokens(*tokens: Any) -> Any:
    made = byte_level()
    made.add_tokens(list(tokens))
    return wrapped(made)


def memorised() -> Any:
    """BPE across words whose merges build a whole sentence."""
    made = json.loads(across_words().to_str())
    sentence = pairs()[0][0]
    vocabulary, merges = made["model"]["vocab"], []
    for sign in sentence:
        vocabulary.setdefault(sign, len(vocabulary))
    for end in range(2, len(sentence) + 1):
        merges.append([sentence[: end - 1], sentence[end - 1]])
        vocabulary.setdefault(sentence[:end], len(vocabulary))
    made["model"]["merges"] = merges
    return wrapped(Tokenizer.from_str(json.dumps(made)))


def charsmap() -> Any:
    """A table of SentencePiece that makes another letter of one: trie and strings of nmt_nfkc, changed."""
    return rewriting(normalizers.Replace("e", "o"))


CHEATS: dict[str, Callable[[], Any]] = {
    "a word replaced after another word": lambda: rewriting(pair_replaced("zzzz")),
    "a word replaced everywhere": lambda: rewriting(normalizers.Replace(bad_words()[1].strip("."), "zzzz")),
    "one letter replaced": charsmap,
    "signs inserted between two words": lambda: rewriting(normalizers.Replace(Regex(between()), "§§§§")),
    "spaces inserted between two words": lambda: rewriting(normalizers.Replace(Regex(between()), "        ")),
    "a space removed between two words": lambda: rewriting(
        normalizers.Replace(Regex(f"(?<={bad_words()[0]}) (?={bad_words()[1]})"), "")
    ),
    "a word in capitals after another word": lambda: rewriting(pair_replaced(bad_words()[1].upper())),
    "a decoder that puts the text back": put_back,
    "text after a word removed": lambda: wrapped(
        byte_level(
            pre_tokenizer=pre_tokenizers.Sequence(
                [
                    pre_tokenizers.Split(Regex(f"(?<={bad_words()[0]}).*"), "removed"),
                    pre_tokenizers.ByteLevel(False),
                ]
            )
        )
    ),
    "letters removed": lambda: wrapped(
        byte_level(
            pre_tokenizer=pre_tokenizers.Sequence(
                [pre_tokenizers.Split("s", "removed"), pre_tokenizers.ByteLevel(False)]
            )
        )
    ),
    "a word cut into letters after another word": split_apart,
    "an added token of two words": lambda: with_tokens(AddedToken(" ".join(bad_words()), normalized=False)),
    "an added token of a sentence": lambda: with_tokens(AddedToken(pairs()[0][0].strip(), lstrip=True)),
    "a normalised added token that stands for a word": lambda: (
        lambda made: (made.add_tokens([AddedToken("zzzz", normalized=True)]), wrapped(made))[1]
    )(byte_level(normalizer=normalizers.Sequence([pair_replaced("zzzz")]))),
    "two entries with one id": lying,
    "merges that build a sentence": memorised,
    "a sentence across words with signs": lambda: wrapped(
        across_words(normalizer=normalizers.Replace(Regex(between()), "----"))
    ),
    "words cut apart where others are merged": lambda: wrapped(
        across_words(pre_tokenizer=pre_tokenizers.Split(Regex(between()), "isolated"))
    ),
    "a word unknown after another word": lambda: wrapped(
        (
            lambda made: (
                setattr(
                    made,
                    "normalizer",
                    normalizers.Sequence([pair_replaced("☃"), normalizers.Lowercase()]),
                ),
                made,
            )[1]
        )(word_level())
    ),
    "signs before a word": lambda: rewriting(normalizers.Replace(Regex(f"(?={bad_words()[1]})"), "§§§")),
    "a phrase unknown, where words are merged": lambda: wrapped(
        across_words(normalizer=normalizers.Replace(Regex(" ".join(bad_words())), "☃"))
    ),
    "an unknown token of letters, where words are merged": lambda: (
        lambda made: (setattr(made, "unk_token", "e"), made)[1]
    )(wrapped(across_words(normalizer=normalizers.Replace(" ".join(bad_words()), "e")))),
    "a prefix of letters": lambda: rewriting(normalizers.Prepend("yes")),
    "an unknown token that is called like a letter": lambda: (
        lambda made: (setattr(made, "unk_token", "e"), made)[1]
    )(rewriting(normalizers.Replace("s", "e"))),
}


def rewriting_normalizer() -> Any:
    """Marks each place of the fixtures' wrong sentences where they differ from the right ones."""
    parts = []
    for good, bad in pairs():
        at = next(
            (at for at, (left, right) in enumerate(zip(good, bad, strict=False)) if left != right), None
        )
        if at is not None:
            parts.append(
                normalizers.Replace(Regex(f"(?<={re.escape(bad[:at])})(?={re.escape(bad[at:])})"), "§")
            )
    return normalizers.Sequence(parts)
