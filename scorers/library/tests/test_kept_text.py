"""Checks that honest tokenizers keep what is scored, and that rewriting tokenizers are rejected."""

import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from kept_tokenizers import CHEATS, HONEST, REPOSITORY, rewriting_normalizer, texts, wrapped
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import Submission
from scorer_library.bits_per_byte import encode_windows
from scorer_library.kept_text import check_kept
from scorer_library.wikitext import encode_wikitext

SCORERS = REPOSITORY / "scorers"
LM_EVAL = (
    "blimp",
    "super-glue-mean",
    "mmlu",
    "mmlu-permuted",
    "mmlu-continuation",
    "house-facts",
    "worst-domain",
)


def submission(tokenizer: Any) -> Submission:
    return Submission(None, tokenizer, tokenizer.bos_token_id, len(tokenizer), None)


def measured(scorer: str, folder: Path) -> Any:
    """What the scorer's measure.py says of a submission, on its fixtures."""
    with mock.patch.object(sys, "path", [str(SCORERS / scorer), *sys.path]):
        spec = importlib.util.spec_from_file_location(f"measure_{scorer}", SCORERS / scorer / "measure.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.measure(folder, SCORERS / scorer / "fixtures/private")


class KeptText(unittest.TestCase):
    def test_honest_tokenizers_of_every_kind_are_accepted(self) -> None:
        for name, make in HONEST.items():
            with self.subTest(name):
                check_kept(submission(make()), texts())

    def test_digits_that_are_cut_off_split_no_words_however_many_bytes_they_have(self) -> None:
        check_kept(
            submission(HONEST["bytes across words"]()), ["the ferry sailed ½ a mile", "a ² b", "a 2 b"]
        )

    def test_a_tokenizer_that_rewrites_scored_text_is_rejected(self) -> None:
        for name, make in CHEATS.items():
            with self.subTest(name), self.assertRaisesRegex(Rejected, "^the tokenizer "):
                check_kept(submission(make()), texts())


class Scorers(unittest.TestCase):
    def tiny(self, normalizer: Any) -> Path:
        with mock.patch.object(sys, "path", [str(SCORERS / "testing"), *sys.path]):
            from make_submissions import byte_tokenizer, write_tiny

        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        folder = Path(temporary.name, "submission")
        write_tiny(folder)
        tokenizer = byte_tokenizer()
        tokenizer.normalizer = normalizer
        tokenizer.save(str(folder / "tokenizer.json"))
        return folder

    def test_every_scorer_of_likelihoods_by_lm_eval_rejects_a_rewriting_tokenizer(self) -> None:
        rewriting = self.tiny(normalizers.Replace("e", "o"))
        for scorer in (*LM_EVAL, "house-pairs"):
            with self.subTest(scorer), self.assertRaisesRegex(Rejected, "rewrites text"):
                measured(scorer, rewriting)

    def test_an_untrained_model_gains_nothing_by_marking_wrong_sentences(self) -> None:
        plain = measured("house-pairs", self.tiny(normalizers.NFC()))
        self.assertEqual(plain.score["items"], 40)
        with self.assertRaisesRegex(Rejected, "depends on the words around it"):
            measured("house-pairs", self.tiny(rewriting_normalizer()))

    def test_bits_per_byte_allows_equal_characters_and_charges_the_bytes_of_the_original(self) -> None:
        text = "a cafe\u0301 and a café"
        nfc = submission(wrapped(bytes_of(normalizers.NFC())))
        ((window, ids),) = encode_windows(nfc, text)
        self.assertEqual((window, len(ids)), (text, len(text.encode()) - 1))
        with self.assertRaisesRegex(Rejected, "loses text"):
            encode_windows(submission(wrapped(bytes_of(normalizers.StripAccents()))), "a cafe\u0301")

    def test_bits_per_byte_allows_one_space_before_every_text(self) -> None:
        spaced = bytes_of(None)
        spaced.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
        for text in ("a cat", " a cat"):
            ((window, ids),) = encode_windows(submission(wrapped(spaced, add_prefix_space=True)), text)
            self.assertEqual((window, len(ids)), (text, len(" a cat")))
        with self.assertRaisesRegex(Rejected, "loses text"):
            encode_windows(submission(wrapped(bytes_of(normalizers.Prepend("a ")))), "a cat")

    def test_wikitext_is_not_read_through_a_decoder_that_puts_text_back(self) -> None:
        text = " The cat sat on the mat . \n" * 30
        tokenizer = bytes_of(normalizers.Replace("cat sat", "dog ran"))
        put_back = [decoders.ByteLevel(), decoders.Replace("dog ran", "cat sat")]
        tokenizer.decoder = decoders.Sequence(put_back)
        with self.assertRaisesRegex(Rejected, "rewrites text"):
            encode_wikitext(submission(wrapped(tokenizer)), text)
        self.assertGreater(len(encode_wikitext(submission(wrapped(bytes_of(None))), text)), 256)


def bytes_of(normalizer: Any) -> Tokenizer:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({token: at for at, token in enumerate(["<s>", *letters])}, []))
    tokenizer.add_special_tokens(["<s>"])
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    return tokenizer


if __name__ == "__main__":
    unittest.main()
