"""What loading changes of a submission, so that its scores can be repeated."""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from causal_models import config_of, repository_texts, tokenizer_of, trained

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

    def test_an_rwkv_is_loaded_without_starting_a_program(self) -> None:
        tokenizer = tokenizer_of([TEXT])
        sizes = {"hidden_size": 8, "num_hidden_layers": 2, "attention_hidden_size": 8}
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        load = (
            # a torch for CUDA asks ldconfig once when it is imported, in the warm process
            "import sys, torch; from pathlib import Path; from mlrb_kit.submission import load_submission\n"
            "sys.addaudithook(lambda event, of: event == 'subprocess.Popen' and print('started', of[:2]))\n"
            "load_submission(Path(sys.argv[1]))"
        )
        trained(
            config_of("rwkv", {**sizes, "vocab_size": len(tokenizer)}), [TEXT] * 20, tokenizer, 1
        ).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        ended = subprocess.run(
            [sys.executable, "-c", load, folder], capture_output=True, text=True, check=True
        )
        self.assertEqual(ended.stdout, "")


if __name__ == "__main__":
    unittest.main()
