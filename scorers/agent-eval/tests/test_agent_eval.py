"""Checks agent-eval's measures against plain computations, and its reference points on doubles."""

import contextlib
import io
import json
import math
import runpy
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow
import pyarrow.parquet
import torch
import yaml
from tokenizers import Tokenizer, decoders, normalizers, pre_tokenizers
from tokenizers.models import BPE
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
)

import reference_points
from measure import measure, measure_text
from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import Submission, load_submission
from perplexity import window_samples
from scorer_library.causality.encode_texts import Encoder
from scorer_library.causality.scored_texts import ScoredText, scored_texts
from scorer_library.wikitext import TEST, encode_wikitext, joined, read_wikitext
from speed import speeds

ROWS = ["", " = A title = \n", "", *(f" The ferry left {at} times . \n" for at in range(60)), ""]
FAST = {"warmups": 0, "runs": 1}


def write_model(folder: Path, positions: int = 256, seed: int = 0) -> GPT2LMHeadModel:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(BPE({token: at for at, token in enumerate(["<end>", *letters])}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<end>", eos_token="<end>")
    torch.manual_seed(seed)
    sizes = {"n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": positions}
    config = GPT2Config(vocab_size=len(fast), bos_token_id=0, eos_token_id=0, initializer_range=0.5, **sizes)
    model = GPT2LMHeadModel(config).eval()
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    return model


def plain_running(model: GPT2LMHeadModel, text: str) -> list[float]:
    """The perplexity after each window, token by token, without any code of the scorer."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    bytes_as_letters = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(
        text
    )
    ids = [1 + letters.index(letter) for letter in bytes_as_letters[0][0]]
    total, count, running = 0.0, 0, []
    for start in range(0, len(ids) - len(ids) % 256, 256):
        window = ids[start : start + 256]
        with torch.no_grad():
            logits = model(torch.tensor([[0, *window[1:]]])).logits[0].numpy().astype(np.float64)
        for place in range(128, 255):
            powers = np.exp(logits[place] - logits[place].max())
            total -= math.log(powers[window[place + 1]] / powers.sum())
            count += 1
        running.append(math.exp(total / count))
    return running


class Perplexity(unittest.TestCase):
    def setUp(self) -> None:
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)

    def test_it_equals_a_plain_computation(self) -> None:
        text = joined(ROWS)
        running = plain_running(write_model(self.folder), text)
        score, samples = measure_text(self.folder, text, FAST)
        assert isinstance(score, dict)
        self.assertEqual(score["items"], len(running))
        self.assertEqual(len(list(samples)), len(text) // 256)
        self.assertAlmostEqual(score["value"] / running[-1], 1, delta=1e-12)
        mean = sum(running) / len(running)
        self.assertAlmostEqual(score["extra"]["perplexityRunningMean"] / mean, 1, delta=1e-12)
        self.assertNotAlmostEqual(mean, running[-1], delta=0.01)

    def test_a_tied_matrix_counts_once(self) -> None:
        model = write_model(self.folder)
        score, _ = measure_text(self.folder, joined(ROWS), FAST)
        assert isinstance(score, dict)
        expected = 257 * 16 + 256 * 16 + 16 * 48 + 48 + 16 * 16 + 16 + 2 * 16 * 64 + 64 + 16 + 6 * 16
        self.assertEqual(score["extra"]["parameters"], expected)
        self.assertEqual(model.num_parameters(), expected)

    def test_a_shorter_context_and_a_shorter_text_are_rejected(self) -> None:
        write_model(self.folder, positions=255)
        with self.assertRaisesRegex(Rejected, "reads 255 tokens at once"):
            measure_text(self.folder, joined(ROWS), FAST)
        write_model(self.folder)
        with self.assertRaisesRegex(Rejected, "255 tokens for the whole text"):
            measure_text(self.folder, "a" * 255, FAST)

    def test_a_tokenizer_that_loses_words_is_rejected(self) -> None:
        write_model(self.folder)
        tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
        tokenizer.normalizer = normalizers.Replace(" \n", "\n")
        tokenizer.save(str(self.folder / "tokenizer.json"))
        measure_text(self.folder, joined(ROWS), FAST)
        tokenizer.normalizer = normalizers.Replace(" ", "")
        tokenizer.save(str(self.folder / "tokenizer.json"))
        with self.assertRaisesRegex(Rejected, "loses text"):
            measure_text(self.folder, joined(ROWS), FAST)

    def test_a_tokenizer_that_adds_tokens_which_its_decoder_removes_is_rejected(self) -> None:
        write_model(self.folder)
        tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
        tokenizer.normalizer = normalizers.Replace("t", "t~~~")
        tokenizer.decoder = decoders.Sequence([decoders.ByteLevel(), decoders.Replace("~", "")])
        tokenizer.save(str(self.folder / "tokenizer.json"))
        with self.assertRaisesRegex(Rejected, "more tokens than the text has bytes"):
            measure_text(self.folder, joined(ROWS), FAST)

    def test_what_is_tested_for_look_ahead_is_what_is_scored(self) -> None:
        write_model(self.folder)
        submission = load_submission(self.folder)
        text = joined(ROWS)
        model = Submission.next_logits
        with mock.patch.object(Submission, "next_logits", autospec=True, side_effect=model) as called:
            samples = window_samples(submission, encode_wikitext(submission, text))
        read = [row for call in called.call_args_list for row in call.args[1]]
        [sequences] = Encoder(submission).encode([ScoredText("wikitext", "", text, kind="wikitext")])
        self.assertEqual([list(one.ids[:-1]) for one in sequences], read)
        self.assertEqual([len(one.cuts()) for one in sequences], [sample["weight"] for sample in samples])

    def test_the_bytes_of_a_token_are_reported(self) -> None:
        write_model(self.folder)
        score, _ = measure_text(self.folder, joined(ROWS), FAST)
        assert isinstance(score, dict)
        self.assertEqual(score["extra"]["bytesPerToken"], 1)

    def test_the_private_data_holds_the_text(self) -> None:
        path = self.folder / TEST
        path.parent.mkdir(parents=True)
        path.write_text("".join(json.dumps({"text": row}) + "\n" for row in ROWS), encoding="utf-8")
        text = read_wikitext(self.folder)
        self.assertTrue(text.startswith(" \n = A title = \n \n The ferry left 0 times"))
        self.assertEqual("".join(part.scored for part in scored_texts(self.folder, ["wikitext"])), text)
        path.write_text('{"text": ""}\n', encoding="utf-8")
        with self.assertRaisesRegex(SystemExit, "the data stage is at fault"):
            measure(self.folder, self.folder)


class EncoderDecoders(unittest.TestCase):
    def setUp(self) -> None:
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)
        write_model(self.folder)
        sizes = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "max_position_embeddings": 256}
        heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
        config = BartConfig(vocab_size=257, encoder_ffn_dim=8, decoder_ffn_dim=8, **sizes, **heads)
        BartForConditionalGeneration(config).save_pretrained(self.folder)

    def scored(self, admitted: bool) -> dict:
        admission, score = self.folder / "admission.json", self.folder / "score.json"
        found = {"admitted": admitted, "reasons": [{"detail": "no weights"}]}
        admission.write_text(json.dumps(found), encoding="utf-8")
        inputs = {"submission": self.folder, "admission": admission, "private": self.folder}
        words = ["agent-eval/measure.py", "--param=version=1", "--param=unit=x", "--param=direction=lower"]
        words += [f"--input={name}={path}" for name, path in inputs.items()]
        words += [f"--output=score={score}", f"--output=samples={self.folder / 'samples.jsonl'}"]
        script = Path(__file__).parents[1] / "measure.py"
        with mock.patch.object(sys, "argv", words), contextlib.redirect_stdout(io.StringIO()):
            runpy.run_path(str(script), run_name="__main__")
        return json.loads(score.read_text(encoding="utf-8"))

    def test_they_are_not_measured_and_not_at_fault(self) -> None:
        score = self.scored(admitted=True)
        self.assertEqual(score["kind"], "not-measured")
        self.assertRegex(score["reason"], "decoders only, and this model is an encoder-decoder")

    def test_one_that_is_not_admitted_is_rejected_like_every_other(self) -> None:
        score = self.scored(admitted=False)
        self.assertEqual((score["kind"], score["reason"]), ("rejected", "not admitted: no weights"))

    def test_a_reference_model_is_rejected_with_the_reason(self) -> None:
        with self.assertRaisesRegex(Rejected, "decoders only"):
            measure_text(self.folder, joined(ROWS), FAST)


class Speed(unittest.TestCase):
    def test_rates_count_the_prompt_and_latency_is_a_512th_of_a_run(self) -> None:
        found = speeds([1.0, 2.0], new_tokens=100)
        self.assertEqual(found["tokensPerSecond"], 150)
        self.assertAlmostEqual(found["tokensPerSecondP90"], 190)
        self.assertAlmostEqual(found["latencyMs"], 1500 / 512)
        self.assertAlmostEqual(found["latencyMsP95"], 1950 / 512)
        self.assertEqual(found["newTokenMs"], 15)


class ReferencePoints(unittest.TestCase):
    """With tiny doubles of the models and of the text, and a table of the doubles' values."""

    def setUp(self) -> None:
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)
        (self.folder / "text/wikitext-2-raw-v1").mkdir(parents=True)
        rows = pyarrow.table({"text": ROWS})
        pyarrow.parquet.write_table(rows, self.folder / "text/wikitext-2-raw-v1/test-00000-of-00001.parquet")
        self.table = {}
        for at, name in enumerate(["gpt2-xs", "gpt2"]):
            running = plain_running(write_model(self.folder / name, seed=at), joined(ROWS))
            values = {"parameters": 11520, "perplexity": sum(running) / len(running)}
            self.table[name] = {**values, "tokensPerSecond": 100.0, "latencyMs": 1.0}
        self.members = [member("wikitext-2", "text"), *(member(name, name) for name in self.table)]

    def check(self) -> tuple[str, list[dict]]:
        manifest, points = self.folder / "manifest.json", self.folder / "points.json"
        manifest.write_text(json.dumps({"formatVersion": 1, "members": self.members}), encoding="utf-8")
        (self.folder / "table.yaml").write_text(yaml.safe_dump(self.table, sort_keys=False), encoding="utf-8")
        words = ["", f"--input=manifest={manifest}", f"--output=points={points}"]
        said = io.StringIO()
        with (
            mock.patch.object(sys, "argv", words),
            mock.patch.object(reference_points, "TABLE", str(self.folder / "table.yaml")),
            mock.patch.object(reference_points, "SETTINGS", FAST),
            contextlib.redirect_stdout(said),
        ):
            try:
                reference_points.main()
            except SystemExit as end:
                print(end, file=said)
        found = json.loads(points.read_text())["points"] if points.exists() else []
        return said.getvalue(), found

    def test_equal_values_pass_and_speed_decides_nothing(self) -> None:
        said, points = self.check()
        self.assertIn("all 2 reference points are reproduced", said)
        self.assertEqual([point["problems"] for point in points], [[], []])
        self.assertRegex(said, r"tokensPerSecond: [\d.]+, published 100, ratio ")

    def test_another_count_or_perplexity_fails_by_name_and_every_point_is_kept(self) -> None:
        self.table["gpt2"]["perplexity"] *= 1.002
        said, points = self.check()
        self.assertIn("not reproduced: gpt2\n", said)
        self.assertRegex(said, r"gpt2: perplexity [\d.]+ instead of ")
        self.assertEqual([point["source"] for point in points], ["gpt2-xs", "gpt2"])
        self.table["gpt2-xs"]["parameters"] += 1
        self.assertIn("11520 parameters instead of 11521", self.check()[0])

    def test_a_missing_download_and_a_broken_model_are_named(self) -> None:
        (self.folder / "gpt2/model.safetensors").write_bytes(b"")
        self.assertRegex(self.check()[0], r"gpt2: rejected: .*\n[\s\S]*not reproduced: gpt2\n")
        self.members[1] = {**self.members[1], "artifacts": {}, "outcome": "failed", "cause": "gated"}
        self.assertIn("the source gpt2-xs is not downloaded: gated", self.check()[0])


def member(source: str, path: str) -> dict:
    axes, files = {"source": source}, {"files": {"digest": "d", "kind": "dir", "path": path}}
    return {"stage": "download", "name": "download", "axes": axes, "outcome": "succeeded", "artifacts": files}


if __name__ == "__main__":
    unittest.main()
