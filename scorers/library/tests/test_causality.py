"""Models that read what they predict are found, and an honest one is not."""

import json
import math
import random
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import torch
from causal_models import config_of, submission_of, trained
from leaking_models import SCORED, TEXTS, TOKENIZER, share, tested

from mlrb_kit.admitted import check_look_ahead
from mlrb_kit.rejected import Rejected
from mlrb_kit.stage import Stage
from mlrb_kit.submission import Submission
from scorer_library.causality.draw_cuts import (
    FOUND_WITH,
    SHARE,
    draw_cuts,
    missed_places,
    missed_texts,
    texts_to_draw,
)
from scorer_library.causality.encode_texts import Encoder, places_of
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
        true = {tuple(one.ids[:-1]) for sequences in ENCODED for one in sequences}
        self.assertTrue(tested(lambda ids, _: 5.0 * (tuple(ids) in true)).looks_ahead())

    def test_a_leak_that_costs_earlier_tokens_as_much_is_found(self) -> None:
        true = {tuple(one.ids[:-1]) for sequences in ENCODED for one in sequences}
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
        encoded = Encoder(SUBMISSION).encode(texts[1:20])
        long = max(len(one.ids) for sequences in encoded for one in sequences)
        self.assertTrue(tested(lambda ids, _: 5.0 * (len(ids) > long), texts=texts).looks_ahead())

    def test_a_model_of_any_float_type_is_tested_and_one_of_no_known_type_is_refused(self) -> None:
        from transformers import AutoModelForCausalLM

        sizes = {"n_embd": 16, "n_layer": 1, "n_head": 2, "vocab_size": len(TOKENIZER)}
        model = AutoModelForCausalLM.from_config(config_of("gpt2", sizes)).eval()
        for dtype, tolerance in ((torch.float64, 1e-3), (torch.bfloat16, 0.1)):
            found = measure_look_ahead(submission_of(model.to(dtype), TOKENIZER), SCORED[:20], bytes(32))
            self.assertFalse(found.looks_ahead())
            self.assertEqual((found.dtype, found.tolerance), (str(dtype).removeprefix("torch."), tolerance))
        for dtype in (torch.int8, torch.bool, torch.complex64, torch.float8_e4m3fn):
            for parameter in model.parameters():
                parameter.requires_grad_(requires_grad=False)
                parameter.data = parameter.data.to(dtype)
            with self.assertRaisesRegex(Rejected, "the model computes in"):
                measure_look_ahead(submission_of(model, TOKENIZER), SCORED[:20], bytes(32))

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

    def test_the_types_that_admission_lists_look_ahead_in_the_installed_transformers(self) -> None:
        from transformers import AutoModelForCausalLM

        table = Path(__file__).parents[3] / "runners/kit/src/admission/settings-table.json"
        listed = json.loads(table.read_text(encoding="utf-8"))["notScored"]
        types = [kind for kind, why in listed.items() if why.startswith("looks ahead")]
        self.assertEqual(types, ["cpmant", "doge"])
        sizes = {
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "vocab_size": len(TOKENIZER),
        }
        for kind in types:
            own = {"dim_head": 8, "dim_ff": 64} if kind == "cpmant" else {"intermediate_size": 64}
            torch.manual_seed(0)
            model = AutoModelForCausalLM.from_config(config_of(kind, {**sizes, **own})).eval()
            found = measure_look_ahead(submission_of(model, TOKENIZER), SCORED[:40], bytes(32))
            self.assertTrue(found.looks_ahead(), kind)

    def test_a_bert_that_learned_to_copy_the_next_token_is_found(self) -> None:
        config = config_of(
            "bert",
            {
                "hidden_size": 64,
                "num_hidden_layers": 1,
                "num_attention_heads": 1,
                "intermediate_size": 64,
                "hidden_dropout_prob": 0.0,
                "attention_probs_dropout_prob": 0.0,
                "vocab_size": len(TOKENIZER),
            },
        )
        model = trained(config, TEXTS, TOKENIZER, steps=300, rate=3e-3, rows_each=32, length=24)
        self.assertLess(model.trained_loss, 0.5)  # it copies
        copier = submission_of(model, TOKENIZER)
        for seed in range(3):
            self.assertTrue(measure_look_ahead(copier, SCORED, bytes([seed]) * 32).looks_ahead())


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
            [(cut.source, cut.place) for cut in measure_look_ahead(SUBMISSION, SCORED, seed).cuts]
            for seed in (bytes(32), bytes(32), b"1" * 32)
        ]
        self.assertEqual(cuts[0], cuts[1])
        self.assertNotEqual(cuts[0], cuts[2])

    def test_texts_of_one_token_cannot_leak(self) -> None:
        one = [ScoredText("a", "", TOKENIZER.decode([7])), ScoredText("b", "", TOKENIZER.decode([8]))]
        result = measure_look_ahead(SUBMISSION, one, bytes(32))
        self.assertFalse(result.looks_ahead())
        self.assertEqual(result.cuts, [])
        self.assertEqual(described(result)["mayHide"]["natsPerToken"], 0)
        self.assertIn("a leak cannot help", detail_of(result))

    def test_a_tokenizer_that_encodes_a_text_in_two_ways_is_rejected(self) -> None:
        class Random:
            def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
                return TOKENIZER.encode(text[: rng.randrange(20, 60)], add_special_tokens=add_special_tokens)

        rng = random.Random(0)
        submission = submission_of(SUBMISSION.model, TOKENIZER)
        changed = replace(submission, tokenizer=Random())
        with self.assertRaisesRegex(Rejected, "encodes the same text in different ways"):
            measure_look_ahead(changed, SCORED, bytes(32))

    def test_an_answer_of_one_token_needs_no_pass_of_the_model(self) -> None:
        class Never(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.weight = torch.nn.Parameter(torch.zeros(1))
                self.device = torch.device("cpu")
                self.config = SimpleNamespace(model_type="never")

            def tie_weights(self) -> None:
                pass

            def forward(self, input_ids: object) -> None:
                raise AssertionError("the model was run")

        answer = TOKENIZER.decode([TOKENIZER.encode(" the", add_special_tokens=False)[0]])
        texts = [
            ScoredText(str(at), f"{text.scored[:80]}\nAnswer:", answer, run="questions")
            for at, text in enumerate(SCORED)
        ]
        submission = Submission(Never(), TOKENIZER, TOKENIZER.bos_token_id, len(TOKENIZER), 512)
        self.assertEqual(measure_look_ahead(submission, texts, bytes(32)).cuts, [])


def longer(text: ScoredText) -> ScoredText:
    return replace(text, kind="long", scored=text.scored * 4)


class Kinds(unittest.TestCase):
    """A failure on one kind of text leaves the other kinds tested."""

    def test_an_honest_model_that_fails_on_long_rows_is_causal_and_only_long_texts_are_untested(self) -> None:
        from transformers import AutoModelForCausalLM

        # MPT has no setting that says what it reads at once, and fails beyond max_seq_len
        sizes = {"d_model": 16, "n_layers": 1, "n_heads": 2, "max_seq_len": 160, "vocab_size": len(TOKENIZER)}
        model = AutoModelForCausalLM.from_config(config_of("mpt", sizes)).eval()
        submission = replace(submission_of(model, TOKENIZER), context=None)
        short = SCORED[:40]
        result = measure_look_ahead(submission, [*short, *map(longer, short)], bytes(32))
        self.assertEqual(list(result.untested), ["long"])
        self.assertIn("the model fails on text", result.untested["long"])
        self.assertEqual({cut.kind for cut in result.cuts}, {"documents"})
        self.assertEqual(len(result.drawings), 1)
        self.assertFalse(result.looks_ahead())
        with self.assertRaisesRegex(Rejected, "the model fails on text"):
            measure_look_ahead(submission, list(map(longer, short)), bytes(32))

    def test_a_model_that_fails_on_one_kind_is_found_to_leak_in_another(self) -> None:
        short = SCORED[:40]
        longest = max(len(TOKENIZER.encode(text.scored)) for text in short)

        def leak(ids: list[int], _: int) -> float:
            if len(ids) > longest:
                raise ValueError("too long")
            return 5.0

        result = tested(leak, texts=[*short, *map(longer, short)])
        self.assertEqual(list(result.untested), ["long"])
        self.assertTrue(result.looks_ahead())

    def test_a_leak_in_the_scored_half_of_agent_eval_windows_is_found(self) -> None:
        text = ScoredText("wikitext", "", "".join(TEXTS[:120]), kind="wikitext")
        start = TOKENIZER.bos_token_id

        def leak(ids: list[int], at: int) -> float:
            return 5.0 * (len(ids) == 256 and ids[0] == start and at >= 128)

        result = tested(leak, texts=[text])
        self.assertEqual(result.untested, {})
        self.assertTrue(result.looks_ahead())
        self.assertTrue(all(129 <= cut.place <= 255 for cut in result.cuts))

    def test_only_a_scorer_whose_kind_of_text_is_untested_rejects_the_submission(self) -> None:
        found = {
            "verdict": "causal",
            "detail": "d",
            "untested": [{"kind": "wikitext", "detail": "it fails"}],
        }
        self.look_ahead_of("documents", found)
        self.look_ahead_of("documents", {"verdict": "causal", "detail": "d"})
        with self.assertRaisesRegex(Rejected, "cannot be tested for look-ahead: it fails"):
            self.look_ahead_of("wikitext", found)
        with self.assertRaisesRegex(Rejected, "looks ahead: d"):
            self.look_ahead_of("documents", {**found, "verdict": "looks-ahead"})

    def look_ahead_of(self, kind: str, found: dict[str, object]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "admission.json"
            path.write_text(json.dumps({"lookAhead": found}), encoding="utf-8")
            check_look_ahead(Stage("score", {"scoredText": kind}, {"admission": path}, {}, None))


class Power(unittest.TestCase):
    def test_a_leak_in_a_twentieth_of_the_texts_is_found_with_99_percent_by_as_few_texts_as_possible(
        self,
    ) -> None:
        for count, most in ((20, 20), (256, 80), (1_360, 87), (100_000, 90)):
            drawn = texts_to_draw(count)
            leaking = math.floor(SHARE * count)
            self.assertLessEqual(drawn, most)
            self.assertAlmostEqual(
                missed_texts(count, leaking, drawn),
                math.comb(count - leaking, drawn) / math.comb(count, drawn),
            )
            self.assertLessEqual(missed_texts(count, leaking, drawn), 1 - FOUND_WITH)
            self.assertGreater(missed_texts(count, leaking, drawn - 1), 1 - FOUND_WITH)

    def test_a_leak_at_a_twentieth_of_the_places_is_found_with_99_percent_wherever_they_are(self) -> None:
        lengths = random.Random(0)
        for name, places in (
            ("equal texts", [40] * 400),
            ("a few long texts", [500] * 10 + [4] * 900),
            ("any lengths", [lengths.randrange(1, 200) for _ in range(300)]),
        ):
            drawing = draw_cuts(places, one_group(places), random.Random(0))
            self.assertLessEqual(drawing.hidden_texts(), SHARE, name)
            self.assertLessEqual(drawing.hidden_places(), SHARE + 1e-9, name)
            worst = leaking_longest(places)
            missed = sum(
                not any(
                    (draw.text, draw.place) in worst
                    for draw in draw_cuts(places, one_group(places), random.Random(at)).draws
                )
                for at in range(1000)
            )
            self.assertLessEqual(missed, 20, name)  # 10 are expected; more than 20 in 1 of 600 such tests

    def test_texts_of_one_length_need_no_further_places(self) -> None:
        self.assertLessEqual(len(draw_cuts([40] * 400, [""] * 400, random.Random(0)).draws), 90)

    def test_a_leak_in_a_twentieth_of_a_mean_over_groups_is_found_in_the_smallest_group(self) -> None:
        places = [4] * 2000 + [4] * 20 + [4] * 300
        groups = ["large"] * 2000 + ["small"] * 20 + ["middle"] * 300
        leaking = set(range(2000, 2003))  # 0.15 of a third of the score, and 0.13 % of the texts
        missed = sum(
            not any(draw.text in leaking for draw in draw_cuts(places, groups, random.Random(at)).draws)
            for at in range(1000)
        )
        self.assertLessEqual(missed, 20)
        self.assertLessEqual(len(draw_cuts(places, groups, random.Random(0)).draws), 180)

    def test_a_cut_is_at_a_place_where_a_leak_helps(self) -> None:
        places = [len(places_of(sequences)) for sequences in ENCODED]
        for draw in draw_cuts(places, one_group(places), random.Random(0)).draws:
            self.assertLess(draw.place, places[draw.text])
        mixed = draw_cuts([0, 3, 0, 2], [""] * 4, random.Random(0))
        self.assertEqual({draw.text for draw in mixed.draws}, {1, 3})

    def test_the_worst_leak_is_in_the_longest_texts(self) -> None:
        self.assertAlmostEqual(missed_places(0.5, (8, 4, 4), 1, 0), 1 - 1 / 3)
        self.assertAlmostEqual(missed_places(0.25, (8, 4, 4), 1, 1), (1 - 1 / 6) * 0.75)

    def test_few_texts_are_all_cut(self) -> None:
        places = [len(places_of(sequences)) for sequences in ENCODED[:7]]
        drawing = draw_cuts(places, one_group(places), random.Random(0))
        self.assertEqual({draw.text for draw in drawing.draws if draw.by == "text"}, set(range(7)))
        self.assertEqual(drawing.hidden_texts(), 0)

    def test_a_maximum_of_cuts_is_kept_and_the_share_that_may_hide_grows(self) -> None:
        most = draw_cuts([40] * 400, [""] * 400, random.Random(0))
        for cuts_max in (1, 20, 64):
            few = draw_cuts([40] * 400, [""] * 400, random.Random(0), cuts_max)
            self.assertEqual(len(few.draws), cuts_max)
            self.assertGreater(few.hidden_texts(), most.hidden_texts())
            self.assertGreater(few.hidden_places(), most.hidden_places())
        self.assertEqual(
            len(draw_cuts([40] * 400, [""] * 400, random.Random(0), 1000).draws), len(most.draws)
        )


def one_group(places: list[int]) -> list[str]:
    return [""] * len(places)


def leaking_longest(places: list[int]) -> set[tuple[int, int]]:
    """A twentieth of all places, in the longest texts: cuts by text find them least often."""
    order = sorted(range(len(places)), key=lambda at: -places[at])
    every = [(at, place) for at in order for place in range(places[at])]
    return set(every[: math.ceil(SHARE * len(every))])


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

ENCODED = Encoder(SUBMISSION).encode(SCORED)

if __name__ == "__main__":
    unittest.main()
