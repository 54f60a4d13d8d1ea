"""Checks peak memory against tensors of known size, and compute against sums done by hand."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

from mlrb_kit.rejected import Rejected
from scorer_library.costs import memory, memory_peak
from scorer_library.costs.efficiency import compute_a_token, read_settings, stored_size
from scorer_library.costs.memory import NotMeasurable, measure_fresh
from scorer_library.costs.memory_use import fitted

MB = 10**6

PEAK = """
from scorer_library.costs.memory import peak_bytes, restart_peak
early = bytearray(200_000_000)
del early
before = restart_peak()
held = bytearray(50_000_000)
del held
print(before, peak_bytes() - before)
"""


class Peak(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def test_it_is_what_was_held_since_the_start_though_it_is_free_again(self) -> None:
        said = subprocess.run([sys.executable, "-c", PEAK], check=True, capture_output=True, text=True).stdout
        before, peak = map(int, said.split())
        self.assertLess(before, 150 * MB)  # earlier memory is not counted
        self.assertLess(abs(peak - 50 * MB), 3 * MB)

    def test_a_model_s_peak_is_at_least_its_weights_and_its_logits(self) -> None:
        config = GPT2Config(vocab_size=20_000, n_positions=512, n_embd=64, n_layer=1, n_head=2)
        GPT2LMHeadModel(config).save_pretrained(self.folder)
        save_bytes_tokenizer(self.folder)
        found = measure_fresh(Path(memory_peak.__file__), self.folder, {"forwardTokens": 400, "newTokens": 4})
        weights, logits = 20_000 * 64 * 4, 400 * 20_000 * 4
        self.assertGreater(found["loadBytes"], weights)
        self.assertGreater(found["netBytes"], weights + logits)
        # includes the file's mapped pages, and a few MB of library pages that are first touched in use
        self.assertLess(found["netBytes"], 2 * weights + 2 * logits + 20 * MB)
        self.assertEqual(found["rawBytes"], found["netBytes"] + found["importsBytes"])
        self.assertEqual((found["forwardTokens"], found["promptTokens"], found["newTokens"]), (400, 400, 4))

    def test_a_model_without_a_tokenizer_that_fits_is_refused(self) -> None:
        config = GPT2Config(vocab_size=200, n_positions=64, n_embd=16, n_layer=1, n_head=2)
        GPT2LMHeadModel(config).save_pretrained(self.folder)
        save_bytes_tokenizer(self.folder)
        with self.assertRaisesRegex(Rejected, "has id 256; the model has 200 embeddings"):
            measure_fresh(Path(memory_peak.__file__), self.folder, {"forwardTokens": 40, "newTokens": 4})

    def test_a_process_that_dies_is_not_the_submission_s_fault(self) -> None:
        script = self.folder / "dies.py"
        script.write_text("import os; os.kill(os.getpid(), 9)")
        with self.assertRaisesRegex(NotMeasurable, "status -9"):
            measure_fresh(script, self.folder, {})

    def test_without_linux_nothing_is_measured(self) -> None:
        with (
            mock.patch.object(memory, "CLEAR_REFS", Path("/nowhere/clear_refs")),
            self.assertRaises(NotMeasurable),
        ):
            memory.restart_peak()


def save_bytes_tokenizer(folder: Path) -> None:
    """A token for each byte, and a start token with id 256."""
    words = {byte: at for at, byte in enumerate(sorted(ByteLevel.alphabet()))}
    made = Tokenizer(BPE({**words, "<start>": 256}, []))
    made.pre_tokenizer = ByteLevel(add_prefix_space=False)
    PreTrainedTokenizerFast(tokenizer_object=made, bos_token="<start>").save_pretrained(folder)


class Fitted(unittest.TestCase):
    def test_tokens_are_cut_only_to_a_context_that_cannot_hold_them(self) -> None:
        self.assertEqual(fitted(2000, 128, None), (2000, 2000, 128))
        self.assertEqual(fitted(2000, 128, 4096), (2000, 2000, 128))
        self.assertEqual(fitted(2000, 128, 2048), (2000, 1920, 128))
        self.assertEqual(fitted(2000, 128, 256), (256, 128, 128))
        self.assertEqual(fitted(2000, 128, 2), (2, 1, 1))


class Compute(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def test_gpt2_counts_its_four_matrices_a_layer_and_the_tied_head(self) -> None:
        GPT2Config(vocab_size=257, n_positions=320, n_embd=16, n_layer=3, n_head=2).save_pretrained(
            self.folder
        )
        found = compute_a_token(self.folder, 100)
        matrices = 3 * (16 * 48 + 16 * 16 + 16 * 64 + 64 * 16) + 257 * 16
        self.assertEqual(found["multipliedParameters"], matrices)
        self.assertEqual(found["flopsPerToken"], 2 * matrices + 2 * 3 * 100 * 16)

    def test_llama_with_fewer_keys_and_its_own_head(self) -> None:
        config = LlamaConfig(
            vocab_size=300,
            hidden_size=32,
            intermediate_size=48,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            tie_word_embeddings=False,
        )
        LlamaForCausalLM(config).save_pretrained(self.folder)
        matrices = 2 * (32 * 32 + 2 * 32 * 16 + 32 * 32 + 3 * 32 * 48) + 300 * 32
        found = compute_a_token(self.folder, 10)
        self.assertEqual(found["flopsPerToken"], 2 * matrices + 2 * 2 * 10 * 32)
        stored = stored_size(self.folder)
        self.assertEqual(stored["parameters"], matrices + 300 * 32 + 5 * 32)  # embedding, norms
        self.assertEqual(stored["bytes"], 4 * stored["parameters"])

    def test_sizes_are_those_of_each_tensor_s_own_type(self) -> None:
        tensors = {
            "a": torch.zeros(3, 5),
            "b": torch.zeros(7, dtype=torch.bfloat16),
            "c": torch.zeros(2, dtype=torch.int64),
        }
        save_file(tensors, self.folder / "model.safetensors")
        found = stored_size(self.folder)
        self.assertEqual((found["parameters"], found["bytes"]), (24, 60 + 14 + 16))
        self.assertGreater(found["fileBytes"], found["bytes"])

    def test_a_config_of_nothing_is_the_submission_s_fault(self) -> None:
        (self.folder / "config.json").write_text("[]")
        with self.assertRaises(Rejected):
            compute_a_token(self.folder, 10)


class Settings(unittest.TestCase):
    def test_settings_come_from_the_private_data_and_are_checked(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            self.assertEqual(read_settings(folder, {"newTokens": 128}), {"newTokens": 128})
            for value in (0, -1, 1.5, True, "8"):
                (folder / "cost.json").write_text(json.dumps({"newTokens": value}))
                with self.assertRaises(ValueError):
                    read_settings(folder, {"newTokens": 128})
            (folder / "cost.json").write_text('{"newTokens": 8, "repeats": 2}')
            self.assertEqual(read_settings(folder, {"newTokens": 128}), {"newTokens": 8})
            with self.assertRaises(FileNotFoundError):
                read_settings(folder / "nothing", {})


if __name__ == "__main__":
    unittest.main()
