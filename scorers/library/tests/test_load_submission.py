"""What loading changes of a submission, so that its scores can be repeated."""

import json
import tempfile
import unittest
from pathlib import Path

from causal_models import repository_texts, tokenizer_of

from mlrb_kit.submission import load_tokenizer

TEXT = "a tokenizer that was saved in the middle of its training"


class Tokenizer(unittest.TestCase):
    def test_a_tokenizer_that_was_saved_with_bpe_dropout_encodes_a_text_in_one_way(self) -> None:
        with tempfile.TemporaryDirectory() as work:
            made = tokenizer_of(repository_texts())
            made.save_pretrained(work)
            plain = made.encode(TEXT)
            file = Path(work) / "tokenizer.json"
            settings = json.loads(file.read_text(encoding="utf-8"))
            self.assertEqual(settings["model"]["type"], "BPE")
            settings["model"]["dropout"] = 0.5
            file.write_text(json.dumps(settings), encoding="utf-8")
            loaded, _ = load_tokenizer(Path(work))
            self.assertEqual([loaded.encode(TEXT) for _ in range(5)], [plain] * 5)


if __name__ == "__main__":
    unittest.main()
