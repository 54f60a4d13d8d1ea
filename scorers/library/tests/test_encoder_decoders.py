"""Encoder-decoders are read, tested and continued as lm-eval and transformers do it."""

import copy
import json
import tempfile
import unittest
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from causal_models import CONTEXT, config_of
from leaking_models import SCORED, TEXTS, TOKENIZER
from torch.nn.functional import one_hot

from mlrb_kit.log_probabilities import log_probabilities
from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import Submission, is_encoder_decoder
from scorer_library.causality.encode_texts import PAD, Encoder
from scorer_library.causality.judge_causality import measure_look_ahead
from scorer_library.causality.scored_texts import ScoredText
from scorer_library.costs.efficiency import compute_a_token
from scorer_library.generation.generate import generate
from scorer_library.generation.items import GenerationSettings
from scorer_library.lm_eval.model import GuardedLM

CUTS = 48  # of each kind of text
TABLE = Path(__file__).parents[3] / "runners/kit/src/admission/settings-table.json"
IDS = {"decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 1, "vocab_size": len(TOKENIZER)}
LAYERS = {"encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32}
HEADS = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
SIZES: dict[str, dict[str, Any]] = {
    "t5": {"d_model": 16, "d_ff": 32, "num_layers": 1, "num_heads": 2, "d_kv": 8, "n_positions": 128},
    "bart": {"d_model": 16, **LAYERS, **HEADS, "init_std": 0.5},
}
QUESTIONS = [
    ScoredText(
        f"q/{at}", f"{text[: 30 + at % 90]}\nAnswer:", f" {text[100 : 110 + at % 30]}", "questions", "q"
    )
    for at, text in enumerate(TEXTS[:24])
]


@cache
def model_of(kind: str) -> Any:
    from transformers import AutoModelForSeq2SeqLM

    torch.manual_seed(0)
    return AutoModelForSeq2SeqLM.from_config(
        config_of(kind, {**IDS, **SIZES.get(kind, SIZES["bart"])})
    ).eval()


def submission_of(model: Any) -> Submission:
    return Submission(model, TOKENIZER, TOKENIZER.bos_token_id, len(TOKENIZER), CONTEXT, True)


class Recording(GuardedLM):
    """Keeps what the encoder and the decoder are given."""

    def __init__(self, submission: Submission) -> None:
        super().__init__(submission)
        self.given: list[tuple[list[int], list[int]]] = []

    def _model_call(self, inps: Any, attn_mask: Any = None, labels: Any = None) -> Any:
        for ids, mask, answer in zip(inps, attn_mask, labels, strict=True):
            self.given.append((ids[mask == 1].tolist(), answer.tolist()))
        return super()._model_call(inps, attn_mask, labels)


class LeakingDecoder(torch.nn.Module):
    """Predicts all tokens alike, but for those that its decoder reads later. `leak`: nats at each place."""

    def __init__(self, leak: Any) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.leak = leak
        self.device = torch.device("cpu")
        self.config = SimpleNamespace(model_type="t5")

    def tie_weights(self) -> None:
        """lm-eval calls it."""

    def forward(self, input_ids: Any, attention_mask: Any, labels: Any) -> Any:
        read = torch.cat([torch.zeros_like(labels[:, :1]), labels[:, :-1]], dim=1)
        logits = torch.zeros(*read.shape, len(TOKENIZER))
        nats = self.leak(read)
        logits[:, :-1] += nats[:, :-1, None] * one_hot(read[:, 1:], len(TOKENIZER))
        return SimpleNamespace(logits=logits)


def leaks(leak: Any, texts: list[ScoredText]) -> bool:
    return measure_look_ahead(submission_of(LeakingDecoder(leak)), texts, bytes(32), CUTS).looks_ahead()


class LookAhead(unittest.TestCase):
    def test_rows_are_those_that_lm_eval_gives_both_parts(self) -> None:
        submission = submission_of(model_of("t5"))
        pairs = [(text.context, text.scored) for text in QUESTIONS] + [
            ("", text.scored) for text in QUESTIONS
        ]
        pairs += [("Ends in spaces:  ", "answer"), ("long " * 400, "answer")]
        texts = [ScoredText(str(at), *pair, "questions", "q") for at, pair in enumerate(pairs)]
        recording = Recording(submission)
        recording.loglikelihood([SimpleNamespace(args=pair) for pair in pairs], disable_tqdm=True)
        rows = [one for found in Encoder(submission).encode(texts) for one in found]
        ours = {
            (tuple(one.given or ()), (*one.ids[1:], *[PAD] * (one.width - len(one.ids) + 1))) for one in rows
        }
        self.assertEqual(ours, {(tuple(given), tuple(answer)) for given, answer in recording.given})
        self.assertTrue(any(answer[-1] == PAD for _, answer in recording.given), "no row is padded")
        self.assertEqual(recording.truncated, 1)

    def test_a_decoder_that_reads_the_next_token_is_found_in_every_kind_of_text(self) -> None:
        for texts in (SCORED[:24], QUESTIONS):
            self.assertTrue(leaks(lambda read: torch.full(read.shape, 5.0), texts))
            self.assertFalse(leaks(lambda read: torch.zeros(read.shape), texts))

    def test_a_decoder_that_reads_only_the_last_token_of_padded_answers_is_found(self) -> None:
        def last(read: Any) -> Any:
            following = torch.cat([read[:, 2:], torch.full_like(read[:, :2], -1)], dim=1)
            return 5.0 * ((following == PAD) & (read != PAD)).float()

        self.assertTrue(leaks(last, QUESTIONS))

    def test_a_decoder_of_a_masked_model_is_found(self) -> None:
        from transformers import AutoModelForSeq2SeqLM, EncoderDecoderConfig

        def part() -> Any:
            sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
            own = {"intermediate_size": 32, "initializer_range": 0.5}
            return config_of("bert", {**sizes, **own, "vocab_size": len(TOKENIZER)})

        # its decoder masks padding, and a masked start would attend to everything
        config = EncoderDecoderConfig.from_encoder_decoder_configs(
            part(), part(), **{**IDS, "decoder_start_token_id": 2}
        )
        for causal in (True, False):
            config.decoder.is_decoder = config.decoder.add_cross_attention = causal
            torch.manual_seed(0)
            model = AutoModelForSeq2SeqLM.from_config(config).eval()
            found = measure_look_ahead(submission_of(model), QUESTIONS, bytes(32), CUTS)
            self.assertEqual(found.looks_ahead(), not causal)

    def test_t5_and_bart_do_not_look_ahead(self) -> None:
        for kind in SIZES:
            found = measure_look_ahead(
                submission_of(model_of(kind)), [*SCORED[:20], *QUESTIONS], bytes(32), CUTS
            )
            self.assertGreater(len(found.cuts), CUTS)
            gain = max(abs(value) for cut in found.cuts for value in (cut.gain.token, cut.gain.prefix))
            self.assertLess(3 * gain, found.tolerance, kind)

    def test_padding_by_other_rows_of_a_batch_is_no_other_encoding(self) -> None:
        pairs = [
            ScoredText(f"p/{at}", "", f" {text[: 20 + at % 60]}", "sentence-pairs", "p")
            for at, text in enumerate(TEXTS)
        ]
        for kind in SIZES:
            found = measure_look_ahead(submission_of(model_of(kind)), pairs, bytes(32))
            self.assertLess(len({cut.source for cut in found.cuts}), len(pairs))  # other batches
            self.assertFalse(found.looks_ahead())

    def test_a_tokenizer_that_encodes_a_context_in_another_way_each_time_is_refused(self) -> None:
        class Changing(type(TOKENIZER)):  # type: ignore[misc]
            def encode(self, text: str, **more: Any) -> list[int]:
                calls.append(text)
                changes = [len(calls) % 7] if text.endswith("Answer:") else []
                return [*changes, *super().encode(text, **more)]

        calls: list[str] = []
        changing = copy.deepcopy(TOKENIZER)
        changing.__class__ = Changing
        submission = replace(submission_of(model_of("t5")), tokenizer=changing)
        with self.assertRaisesRegex(Rejected, "in different ways"):
            measure_look_ahead(submission, QUESTIONS, bytes(32), CUTS)

    def test_a_type_whose_rows_share_the_places_of_experts_does_not_look_ahead(self) -> None:
        from transformers import AutoModelForSeq2SeqLM

        # each of two experts gets each token: those of one row fit, those of two do not
        own = {"num_experts": 2, "expert_capacity": 32, "moe_eval_capacity_token_fraction": -1.0}
        own |= {"encoder_sparse_step": 1, "decoder_sparse_step": 1}
        torch.manual_seed(0)
        config = config_of("nllb-moe", {**IDS, **SIZES["bart"], **own, "init_std": 0.5})
        submission = submission_of(AutoModelForSeq2SeqLM.from_config(config).eval())
        one, two = (torch.tensor([TOKENIZER.encode(text)[:24]]) for text in TEXTS[:2])
        with torch.inference_mode():
            alone = submission.model(input_ids=two[:, :1], labels=two).logits[0]
            both = torch.cat([one, two])
            among = submission.model(input_ids=both[:, :1], labels=both).logits[1]
        self.assertGreater((alone - among).abs().max(), 1e-2, "rows do not interact")
        self.assertFalse(measure_look_ahead(submission, QUESTIONS, bytes(32), CUTS).looks_ahead())


class Reading(unittest.TestCase):
    def test_a_text_without_context_has_the_likelihood_that_lm_eval_gives_it(self) -> None:
        text = "The ferry left the harbour at seven."
        for kind in SIZES:
            submission = submission_of(model_of(kind))
            ids = submission.encode(text)
            logs = log_probabilities(submission, [submission.start_id, *ids[:-1]])
            ours = logs[range(len(ids)), ids].sum().item()
            ((official, _),) = GuardedLM(submission).loglikelihood(
                [SimpleNamespace(args=("", text))], disable_tqdm=True
            )
            self.assertAlmostEqual(ours, official, places=4)
            self.assertEqual(logs.shape[0], len(ids))

    def test_tokens_are_written_as_transformers_writes_them_without_a_forced_end(self) -> None:
        prompt = TOKENIZER.encode("The ferry left the harbour")
        for kind in SIZES:
            model = model_of(kind)
            theirs = model.generate(
                torch.tensor([prompt]),
                do_sample=False,
                max_new_tokens=12,
                eos_token_id=None,
                forced_eos_token_id=None,
                return_dict_in_generate=True,
                output_logits=True,
            )
            settings = GenerationSettings(12, None)
            found = generate(submission_of(model), prompt, name="a", ends=frozenset(), settings=settings)
            self.assertEqual(found.text, TOKENIZER.decode(theirs.sequences[0, 1:], skip_special_tokens=True))
            self.assertEqual((found.tokens, found.ended), (12, "tokens"))
            self.assertFalse(torch.allclose(theirs.logits[0], theirs.logits[5], atol=1e-3), kind)


class Costs(unittest.TestCase):
    def test_compute_counts_the_attention_of_both_parts(self) -> None:
        sizes = {
            "t5": {**SIZES["t5"], "num_decoder_layers": 3},
            "bart": {**SIZES["bart"], "decoder_layers": 3},
        }
        for kind, settings in sizes.items():
            with tempfile.TemporaryDirectory() as folder:
                config_of(kind, {**IDS, **settings}).save_pretrained(folder)
                found = compute_a_token(Path(folder), 100)
            # each attention has four matrices of 16 x 16, each layer two of 16 x 32
            encoder, decoder = 4 * 256 + 2 * 512, 3 * (8 * 256 + 2 * 512)
            matrices = encoder + decoder + 16 * len(TOKENIZER)
            self.assertEqual(found["multipliedParameters"], matrices, kind)
            attention = 4 * 100 * 16 + 3 * (2 + 4) * 100 * 16
            self.assertEqual(found["flopsPerToken"], 2 * matrices + attention, kind)


class NotScored(unittest.TestCase):
    def test_the_types_that_admission_lists_begin_with_the_answer_or_make_lm_eval_fail(self) -> None:
        listed = json.loads(TABLE.read_text(encoding="utf-8"))["notScored"]
        for kind in ("bart", "mbart", "plbart"):
            self.assertTrue(is_encoder_decoder(config_of(kind, {})))
            start = model_of(kind).prepare_decoder_input_ids_from_labels(torch.tensor([[5, 6], [5, 7]]))[:, 0]
            self.assertEqual(start.tolist() == [6, 7], kind in listed, kind)
        fsmt = {"src_vocab_size": len(TOKENIZER), "tgt_vocab_size": len(TOKENIZER), "langs": ["en", "de"]}
        config = config_of("fsmt", {**SIZES["bart"], **fsmt, "tie_word_embeddings": False})
        from transformers import AutoModelForSeq2SeqLM

        model = AutoModelForSeq2SeqLM.from_config(config).eval()
        with self.assertRaisesRegex(ValueError, "batch_size"):
            model(input_ids=torch.tensor([[5]]), labels=torch.tensor([[5, 6, 7]]))
        self.assertIn("fsmt", listed)


if __name__ == "__main__":
    unittest.main()
