"""Checks the arithmetic of scores against numbers worked out by hand."""

import json
import tempfile
import unittest
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np

from mlrb_kit.rejected import Rejected
from mlrb_kit.stored import read_stored
from scorer_library.ngram import fit_ngram, read_public, relative
from scorer_library.ratio import ratio
from scorer_library.windows import windows


class Windows(unittest.TestCase):
    def test_they_join_to_the_first_bytes_of_the_text(self) -> None:
        text = "".join(chr(97 + n % 26) for n in range(5000))
        self.assertEqual("".join(windows(text)), text[:4096])
        self.assertEqual({len(window) for window in windows(text)}, {256})

    def test_a_cut_never_falls_inside_a_character(self) -> None:
        for character in "é€😀":
            text = "a" + character * 3000
            pieces = windows(text)
            self.assertTrue(text.startswith("".join(pieces)))
            size = len(character.encode())
            self.assertTrue(all(256 - size < len(piece.encode()) <= 256 for piece in pieces[:-1]))
            self.assertGreater(sum(len(piece.encode()) for piece in pieces), 4096 - size)

    def test_no_text_has_no_windows(self) -> None:
        self.assertEqual(windows(""), [])


class Ratio(unittest.TestCase):
    def test_equal_weights_give_the_mean_and_its_standard_error(self) -> None:
        value, error = ratio([{"value": value, "weight": 1} for value in (1.0, 2.0, 3.0, 6.0)])
        self.assertAlmostEqual(value, 3.0)
        self.assertAlmostEqual(error, (14 / 3 / 4) ** 0.5)  # sample variance 14/3 over 4 items

    def test_a_constant_ratio_has_no_error_whatever_the_weights(self) -> None:
        value, error = ratio([{"value": 2.5 * weight, "weight": weight} for weight in (1, 10, 100)])
        self.assertAlmostEqual(value, 2.5)
        self.assertAlmostEqual(error, 0.0)


class Ngrams(unittest.TestCase):
    def test_the_bigram_gives_probabilities_that_sum_to_one_after_every_token(self) -> None:
        model = fit_ngram(["the cat sat on the mat. " * 30, "a dog ran to the cat. " * 30] * 3, 64)
        tokens = np.arange(model.start)
        for context in (model.start, int(model.encode("the")[0]), int(model.encode("Z")[0])):
            contexts = np.full(len(tokens), context)
            from_bigrams = relative(model, contexts, tokens).sum()
            self.assertIn(round(from_bigrams, 9), (0.0, 1.0))
            if from_bigrams == 0:
                self.assertEqual(model.seen[context], 0)
        self.assertAlmostEqual(model.unigram.sum(), 1.0)
        self.assertTrue(((model.weights >= 0) & (model.weights <= 1)).all())
        self.assertEqual(model.weights[0], 0.0)

    def test_the_bigram_counts_the_pairs_of_all_texts_that_do_not_fit_its_weights(self) -> None:
        texts = ["the cat sat on the mat. " * 30, "a dog ran to the cat. " * 30, "on a mat. " * 30]
        model = fit_ngram(texts, 64)
        pairs: Counter[tuple[int, int]] = Counter()
        for text in texts[1:]:  # the first, as every 20th, fits the weights
            pairs.update(pairwise(model.tokenizer.encode(text).ids))
        tokens = np.arange(model.start)
        for context in range(model.start):
            expected = [pairs[context, token] / max(model.seen[context], 1) for token in tokens.tolist()]
            found = relative(model, np.full(len(tokens), context), tokens)
            self.assertEqual(found.tolist(), expected)

    def test_a_text_like_the_training_text_costs_less_by_the_bigram(self) -> None:
        model = fit_ngram(["the cat sat on the mat. " * 30] * 40, 64)
        self.assertLess(model.bigram_bits("the cat sat"), model.unigram_bits("the cat sat"))

    def test_what_the_public_text_never_had_is_never_impossible(self) -> None:
        model = fit_ngram(["the cat sat on the mat. "] * 40, 64)
        for text in ("the dog sat.", "on on on", "é"):
            self.assertTrue(0 < model.bigram_bits(text) < 1e3, text)


class Public(unittest.TestCase):
    def read(self, row: dict[str, str]) -> list[str]:
        with tempfile.TemporaryDirectory() as name:
            Path(name, "train.jsonl").write_text(json.dumps(row) + "\n")
            return read_public(Path(name))

    def test_a_row_s_text_is_in_one_of_the_hub_s_fields_or_in_several(self) -> None:
        self.assertEqual(self.read({"content": "a", "name": "x"}), ["a"])
        self.assertEqual(self.read({"text": "b"}), ["b"])
        row = {"formal_proof": "f", "informal_proof": "p", "informal_statement": "s", "name": "x"}
        self.assertEqual(self.read(row), ["s\np\nf"])

    def test_a_row_without_any_fails_the_script(self) -> None:
        with self.assertRaisesRegex(ValueError, "none of the fields"):
            self.read({"name": "x"})


class Stored(unittest.TestCase):
    def index(self, content: object) -> Path:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        folder = Path(temporary.name)
        (folder / "model.safetensors.index.json").write_text(json.dumps(content))
        return folder

    def test_an_index_that_points_out_of_the_folder_is_refused(self) -> None:
        for name in ("../other.safetensors", "/etc/passwd", "not-there.safetensors"):
            with self.assertRaisesRegex(Rejected, "not a file of the submission"):
                read_stored(self.index({"weight_map": {"a": name}}))

    def test_an_index_a_header_or_shards_beyond_any_model_are_refused_before_they_are_read(self) -> None:
        folder = self.index({"weight_map": {}})
        with (folder / "model.safetensors.index.json").open("r+b") as file:
            file.truncate(17 * 2**20)
        with self.assertRaisesRegex(Rejected, "17825792 bytes; at most 16777216 are read"):
            read_stored(folder)
        names = {str(at): f"{at}.safetensors" for at in range(1001)}
        folder = self.index({"weight_map": names})
        with self.assertRaisesRegex(Rejected, "1001 shards; at most 1000"):
            read_stored(folder)
        (folder / "model.safetensors").write_bytes((98 * 10**6).to_bytes(8, "little") + b"{}")
        with self.assertRaisesRegex(Rejected, "98000000 bytes of header; at most 8388608 are read"):
            read_stored(folder)

    def test_an_index_of_another_shape_is_refused(self) -> None:
        for content in ([], {"weight_map": 3}, {"weight_map": {"a": 1}}, {"weight_map": {"a": []}}):
            with self.assertRaisesRegex(Rejected, "not an index of weights"):
                read_stored(self.index(content))


if __name__ == "__main__":
    unittest.main()
