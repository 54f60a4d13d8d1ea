"""Compares the written-out Llama with transformers', on a tiny model."""

import tempfile
import unittest
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, LlamaForCausalLM

from library.llama import given_model, save_model
from testing.tiny_llama import tiny_llama

IDS = torch.tensor([[5, 9, 2, 200, 31, 7], [1, 1, 3, 44, 120, 6]])


class WrittenOutLlama(unittest.TestCase):
    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.base, self.saved = Path(place.name, "base"), Path(place.name, "saved")
        config, tokenizer = tiny_llama(["a ferry left the harbour at seven", "nobody waved"] * 20)
        config.rms_norm_eps, config.rope_theta = 1e-5, 100_000.0
        torch.manual_seed(1)
        LlamaForCausalLM(config).save_pretrained(self.base)
        tokenizer.save_pretrained(self.base)
        self.ids = IDS % config.vocab_size

    @torch.inference_mode()
    def test_its_logits_are_those_of_transformers(self) -> None:
        expected = AutoModelForCausalLM.from_pretrained(self.base)(self.ids).logits
        torch.testing.assert_close(given_model(self.base)(self.ids), expected, rtol=1e-4, atol=1e-5)

    @torch.inference_mode()
    def test_rows_of_other_lengths_do_not_change_what_follows_a_row(self) -> None:
        model, rows = given_model(self.base), [[5, 9, 2], [7], [1, 1, 3, 4, 6]]
        alone = torch.stack([model(torch.tensor([row]))[0, -1] for row in rows])
        torch.testing.assert_close(model.next_logits(rows), alone, rtol=1e-4, atol=1e-5)

    def test_an_adapter_changes_nothing_at_first_and_is_merged_and_saved_as_trained(self) -> None:
        model = given_model(self.base)
        before = model(self.ids).detach()
        trained = model.adapt(["up_proj", "down_proj"], rank=2, alpha=4)
        self.assertEqual(len(trained), 2 * 2 * 2)
        self.assertTrue(torch.equal(model(self.ids), before))
        model(self.ids).square().mean().backward()
        with torch.no_grad():
            for weight in trained:
                weight.sub_(torch.ones_like(weight) * 0.1 + weight.grad)
        after = model(self.ids).detach()
        self.assertGreater(float((after - before).abs().max()), 1e-3)
        model.merge()
        torch.testing.assert_close(model(self.ids), after, rtol=1e-4, atol=1e-5)
        save_model(self.saved, model, self.base)
        loaded = AutoModelForCausalLM.from_pretrained(self.saved)
        torch.testing.assert_close(loaded(self.ids).logits, after, rtol=1e-4, atol=1e-5)
        self.assertEqual(loaded.dtype, torch.float32)


if __name__ == "__main__":
    unittest.main()
