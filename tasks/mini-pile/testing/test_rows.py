"""Checks the training rows of the two agents."""

import unittest

import torch
from tokenizers import Tokenizer

from library.batches import UNSCORED, packed
from library.bpe import END, train_tokenizer
from library.corpus import Corpus
from weak import padded_lines

TEXTS = ["One line.\nAnother line, which is longer.\n", "A second text.\n" * 300]


class Rows(unittest.TestCase):
    def setUp(self) -> None:
        torch.manual_seed(1)
        self.tokenizer: Tokenizer = train_tokenizer(TEXTS, 300)
        self.end = self.tokenizer.token_to_id(END)
        self.corpora = [Corpus("texts", TEXTS, [])]

    def test_every_row_starts_with_end_and_its_targets_are_one_ahead(self) -> None:
        lines = padded_lines(self.tokenizer, self.corpora)
        for draw in (lines, packed(self.tokenizer, self.corpora, 2, 256)):
            inputs, targets = draw()
            self.assertEqual(inputs.shape, targets.shape)
            self.assertTrue((inputs[:, 0] == self.end).all())
            known = targets[:, :-1] != UNSCORED
            self.assertTrue((inputs[:, 1:][known] == targets[:, :-1][known]).all())

    def test_a_line_is_a_row_with_its_line_end_and_no_target_after_it(self) -> None:
        _, targets = padded_lines(self.tokenizer, self.corpora)()
        for row in targets:
            text = self.tokenizer.decode(row[row != UNSCORED].tolist(), skip_special_tokens=False)
            self.assertIn(text, {line for text in TEXTS for line in text.splitlines(keepends=True)})

    def test_packed_rows_have_no_empty_position_and_run_over_line_ends(self) -> None:
        _, targets = packed(self.tokenizer, self.corpora, 2, 256)()
        self.assertFalse((targets == UNSCORED).any())
        for row in targets:
            self.assertIn(".\nA second", self.tokenizer.decode(row.tolist(), skip_special_tokens=False))


if __name__ == "__main__":
    unittest.main()
