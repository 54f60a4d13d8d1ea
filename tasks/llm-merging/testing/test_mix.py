"""Checks mixtures of models against sums worked out tensor by tensor. In a folder with models/, and data/."""

import tempfile
import unittest
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from library.llama import WEIGHTS, model_of, save_model
from mix import digest, mix

MODELS = Path("models")
BASE, FIRST, SECOND = (MODELS / name for name in ("base", "astronomy-expert", "nutrition-expert"))


class Mix(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_every_tensor_is_the_weighted_sum_in_single_precision(self) -> None:
        mixed = mix({FIRST: 1.0, SECOND: 1.0, BASE: -1.0})
        base, first, second = (load_file(model / WEIGHTS) for model in (BASE, FIRST, SECOND))
        self.assertEqual(mixed.keys(), base.keys())
        for name, tensor in mixed.items():
            self.assertEqual(tensor.dtype, torch.float32)
            expected = first[name].double() + second[name].double() - base[name].double()
            torch.testing.assert_close(tensor.double(), expected, rtol=0, atol=1e-6)

    def test_a_single_expert_comes_out_as_it_was(self) -> None:
        mixed = mix({FIRST: 1.0})
        for name, tensor in load_file(FIRST / WEIGHTS).items():
            self.assertTrue(torch.equal(tensor, mixed[name]), name)
        save_model(self.folder, model_of(FIRST, mixed), FIRST)
        for name in ("tokenizer.json", "tokenizer_config.json"):
            self.assertEqual((FIRST / name).read_bytes(), (self.folder / name).read_bytes())
        for name, tensor in load_file(self.folder / WEIGHTS).items():
            self.assertTrue(torch.equal(tensor, mixed[name]), name)
        self.assertEqual(digest(FIRST), digest(FIRST))
        self.assertNotEqual(digest(FIRST), digest(SECOND))

    def test_models_of_other_tensors_are_refused(self) -> None:
        other = self.folder / "other"
        other.mkdir()
        save_file({"spare": torch.zeros(1)}, other / WEIGHTS)
        with self.assertRaisesRegex(SystemExit, "has other tensors than"):
            mix({FIRST: 0.5, other: 0.5})


if __name__ == "__main__":
    unittest.main()
