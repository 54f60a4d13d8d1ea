"""Likelihoods of models in 16 bits are sums in 32 bits: in BF16 they tie, and lm-eval takes the first."""

import math
import tempfile
import unittest
from pathlib import Path
from typing import Any

import torch
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM
from transformers import AutoModelForCausalLM

from mlrb_kit.random_gpt2 import write_control
from mlrb_kit.submission import load_submission
from scorer_library.lm_eval.model import GuardedLM

TEXTS = [f" the {word} of the rooms has {count} doors" * 4 for word in ("size", "name") for count in (2, 3)]


def likelihoods(model: Any) -> list[float]:
    requests = [Instance("loglikelihood", {}, ("", text), at) for at, text in enumerate(TEXTS)]
    return [found for found, _ in model.loglikelihood(requests, disable_tqdm=True)]


class Rounding(unittest.TestCase):
    def test_no_two_texts_tie_by_the_dtype_of_the_model_and_32_bits_are_as_the_command_has_them(self) -> None:
        for dtype in (torch.bfloat16, torch.float16, torch.float32):
            with self.subTest(dtype), tempfile.TemporaryDirectory() as folder:
                write_control(Path(folder), size=0)
                model = AutoModelForCausalLM.from_pretrained(folder).to(dtype)
                model.save_pretrained(folder)
                submission = load_submission(Path(folder))
                self.assertEqual(submission.model.dtype, dtype)
                found = likelihoods(GuardedLM(submission))
                official = HFLM(pretrained=submission.model, tokenizer=submission.tokenizer, batch_size=32)
                if dtype == torch.float32:
                    self.assertEqual(found, likelihoods(official))
                    continue
                self.assertEqual(len(set(found)), len(TEXTS))
                self.assertTrue(any(torch.tensor(one).to(dtype).item() != one for one in found))
                for ours, rounded in zip(found, likelihoods(official), strict=True):
                    self.assertTrue(math.isclose(ours, rounded, rel_tol=0.02), (ours, rounded))


if __name__ == "__main__":
    unittest.main()
