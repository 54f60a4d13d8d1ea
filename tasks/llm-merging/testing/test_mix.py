"""Checks mixtures of models against sums worked out tensor by tensor. In a folder with models/, and data/."""

import tempfile
import unittest
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from mix import WEIGHTS, digest, mix

MODELS = Path("models")
BASE, FIRST, SECOND = (MODELS / name for name in ("base", "astronomy-expert", "nutrition-expert"))


class Mix(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name, "mixed")

    def test_every_tensor_is_the_weighted_sum_in_single_precision(self) -> None:
        mix({FIRST: 1.0, SECOND: 1.0, BASE: -1.0}, self.folder)
        mixed = load_file(self.folder / WEIGHTS)
        base, first, second = (load_file(model / WEIGHTS) for model in (BASE, FIRST, SECOND))
        self.assertEqual(mixed.keys(), base.keys())
        for name, tensor in mixed.items():
            self.assertEqual(tensor.dtype, torch.float32)
            expected = first[name].double() + second[name].double() - base[name].double()
            torch.testing.assert_close(tensor.double(), expected, rtol=0, atol=1e-6)

    def test_a_single_expert_comes_out_as_it_was(self) -> None:
        mix({FIRST: 1.0}, self.folder)
        for name, tensor in load_file(FIRST / WEIGHTS).items():
            self.assertTrue(torch.equal(tensor, load_file(self.folder / WEIGHTS)[name]), name)
        for path in FIRST.iterdir():
            if path.name != WEIGHTS:
                self.assertEqual(path.read_bytes(), (self.folder / path.name).read_bytes())
        self.assertEqual(digest(self.folder), digest(self.folder))
        self.assertNotEqual(digest(FIRST), digest(SECOND))

    def test_models_of_other_tensors_are_refused(self) -> None:
        other = self.folder.with_name("other")
        other.mkdir()
        save_file({"spare": torch.zeros(1)}, other / WEIGHTS)
        with self.assertRaisesRegex(SystemExit, "has other tensors than"):
            mix({FIRST: 0.5, other: 0.5}, self.folder)


if __name__ == "__main__":
    unittest.main()
