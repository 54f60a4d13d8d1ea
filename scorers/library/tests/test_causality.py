"""Models that read what they predict are found, and an honest one is not."""

import random
import unittest

import torch
from causal_models import config_of, submission_of, trained
from leaking_models import SCORED, TEXTS, TOKENIZER, share, tested

from scorer_library.causality.draw_cuts import CUTS, draw_cuts, share_found
from scorer_library.causality.encode_texts import encode_text
from scorer_library.causality.judge_causality import described, detail_of, measure_look_ahead
from scorer_library.causality.scored_texts import ScoredText


class Controls(unittest.TestCase):
    def test_a_leak_in_a_tenth_of_the_texts_is_found(self) -> None:
        self.assertTrue(tested(lambda ids, _: 5.0 * (share(ids) < 0.1)).looks_ahead())

    def test_a_leak_at_a_tenth_of_the_places_of_each_text_is_found(self) -> None:
        self.assertTrue(tested(lambda ids, at: 5.0 * (share(ids, at) < 0.1)).looks_ahead())

    def test_a_leak_everywhere_but_at_the_former_cuts_is_found(self) -> None:
        leaking = tested(lambda ids, at: 5.0 * (at + 1 not in (1, len(ids) // 2, len(ids) - 1)))
        self.assertTrue(leaking.looks_ahead())

    def test_a_model_that_recognises_the_true_texts_and_leaks_only_there_is_found(self) -> None:
        true = {tuple(one.ids[:-1]) for text in SCORED for one in encode_text(SUBMISSION, text)}
        self.assertTrue(tested(lambda ids, _: 5.0 * (tuple(ids) in true)).looks_ahead())

    def test_a_leak_that_costs_earlier_tokens_as_much_is_found(self) -> None:
        true = {tuple(one.ids[:-1]) for text in SCORED for one in encode_text(SUBMISSION, text)}
        hiding = tested(lambda ids, _: 1.0 if tuple(ids) in true else 5.0)
        self.assertTrue(hiding.looks_ahead())

    def test_a_gain_of_a_thousandth_of_a_nat_everywhere_is_found(self) -> None:
        small = tested(lambda _ids, _at: 9e-4)
        self.assertEqual(small.leaking(), [])
        self.assertTrue(small.looks_ahead())

    def test_a_leak_in_long_texts_only_is_found(self) -> None:
        texts = [
            ScoredText(text.source, "", text.scored[: 256 if at % 20 == 0 else 40])
            for at, text in enumerate(SCORED)
        ]
        long = max(len(one.ids) for text in texts[1:20] for one in encode_text(SUBMISSION, text))
        self.assertTrue(tested(lambda ids, _: 5.0 * (len(ids) > long), texts=texts).looks_ahead())

    def test_attention_in_both_directions_is_found(self) -> None:
        from transformers import AutoModelForCausalLM

        torch.manual_seed(0)
        config = config_of(
            "bert",
            {
                "hidden_size": 32,
                "num_hidden_layers": 1,
                "num_attention_heads": 2,
                "intermediate_size": 64,
                "vocab_size": len(TOKENIZER),
                "initializer_range": 0.3,
            },
        )
        model = AutoModelForCausalLM.from_config(config).eval()
        self.assertTrue(measure_look_ahead(submission_of(model, TOKENIZER), SCORED, bytes(32)).looks_ahead())


class Honest(unittest.TestCase):
    def test_a_trained_gpt2_gains_nothing_and_the_result_says_what_could_hide(self) -> None:
        result = measure_look_ahead(SUBMISSION, SCORED, bytes(32))
        self.assertFalse(result.looks_ahead())
        stored = described(result)
        self.assertLess(stored["largestGain"], 1e-4)
        self.assertGreater(stored["mayHide"]["natsPerToken"], 0)
        self.assertEqual(
            len(stored["cuts"]), len({(c["text"], c["sequence"], c["token"]) for c in stored["cuts"]})
        )
        self.assertIn("would be found with 99 %", detail_of(result))

    def test_a_seed_repeats_the_cuts_and_another_seed_changes_them(self) -> None:
        cuts = [
            [(cut.text, cut.place) for cut in measure_look_ahead(SUBMISSION, SCORED, seed).cuts]
            for seed in (bytes(32), bytes(32), b"1" * 32)
        ]
        self.assertEqual(cuts[0], cuts[1])
        self.assertNotEqual(cuts[0], cuts[2])

    def test_texts_of_one_token_cannot_leak(self) -> None:
        one = [ScoredText("a", "", TOKENIZER.decode([7])), ScoredText("b", "", TOKENIZER.decode([8]))]
        self.assertFalse(measure_look_ahead(SUBMISSION, one, bytes(32)).looks_ahead())


class Power(unittest.TestCase):
    def test_each_half_of_the_cuts_finds_a_leak_of_a_twentieth_with_99_percent(self) -> None:
        drawn = draw_cuts(SCORED, random.Random(0))
        self.assertEqual(len(drawn), CUTS)
        evenly = [draw.text for draw in drawn if draw.scored]
        self.assertEqual(len(set(evenly)), len(evenly))
        for count in (len(evenly), CUTS - len(evenly)):
            self.assertGreaterEqual(1 - 0.95**count, 0.99)
            self.assertLessEqual(share_found(count), 0.05)

    def test_few_texts_are_all_cut(self) -> None:
        drawn = draw_cuts(SCORED[:7], random.Random(0))
        self.assertEqual({draw.text for draw in drawn if draw.scored}, set(range(7)))


SUBMISSION = submission_of(
    trained(
        config_of(
            "gpt2",
            {"n_embd": 32, "n_layer": 1, "n_head": 2, "n_positions": 512, "vocab_size": len(TOKENIZER)},
        ),
        TEXTS,
        TOKENIZER,
        steps=10,
    ),
    TOKENIZER,
)

if __name__ == "__main__":
    unittest.main()
