"""Weights under the names that files of different programs give them, and what is said of others."""

import json
import math
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from causal_models import tokenizer_of
from safetensors.torch import save_file, save_model
from transformers import AutoConfig, AutoTokenizer, PreTrainedTokenizerFast

from mlrb_kit.admitted import Undecided
from mlrb_kit.load_check import check_load
from mlrb_kit.rejected import Rejected
from mlrb_kit.stored import read_stored
from mlrb_kit.submission import fitting, load_model, load_tokenizer, loader_of, sketch_model
from scorer_library.check_model import check_model
from scorer_library.trial_load import load

Tensors = dict[str, Any]
VOCABULARY = 40
SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "pad_token_id": 0,
}
DECODER = {"max_position_embeddings": 64, **SIZES, "intermediate_size": 16, "is_decoder": True}
T5 = {"vocab_size": VOCABULARY, "d_model": 8, "d_kv": 4, "d_ff": 16, "num_layers": 2, "num_heads": 2}
BART = {
    "vocab_size": VOCABULARY,
    "d_model": 8,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "max_position_embeddings": 64,
    "decoder_start_token_id": 0,
}
# Types that tie different weights: the output layer, embeddings of both parts, biases, everything.
KINDS: dict[str, dict[str, Any]] = {
    "gpt2": {**SIZES, "max_position_embeddings": 64},
    "llama": {**DECODER, "tie_word_embeddings": True},
    "bert": DECODER,
    "roberta": {**DECODER, "pad_token_id": 1},
    "bloom": SIZES,
    "t5": {**T5, "decoder_start_token_id": 0},
    "bart": BART,
    "marian": {**BART, "pad_token_id": 0},
    "pegasus": BART,
}


def model_of(kind: str, **settings: Any) -> Any:
    torch.manual_seed(1)
    config = AutoConfig.for_model(kind, **KINDS[kind], **settings)
    return loader_of(config).from_config(config).eval()


def written(folder: Path, model: Any, tensors: Tensors, shards: int = 1) -> Path:
    """The folder of `model` with these tensors, in so many files."""
    folder.mkdir(exist_ok=True)
    model.config.save_pretrained(folder)
    own = {name: values.clone().contiguous() for name, values in tensors.items()}
    if shards == 1:
        save_file(own, folder / "model.safetensors", metadata={"format": "pt"})
        return folder
    names = {name: f"model-{at % shards}.safetensors" for at, name in enumerate(own)}
    for file in set(names.values()):
        save_file({name: own[name] for name in own if names[name] == file}, folder / file)
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {}, "weight_map": names}), encoding="utf-8"
    )
    return folder


def tied_groups(model: Any) -> list[list[str]]:
    by_place: dict[int, list[str]] = {}
    for name, values in model.state_dict().items():
        by_place.setdefault(values.data_ptr(), []).append(name)
    return [names for names in by_place.values() if len(names) > 1]


def logits(model: Any) -> Any:
    ids = torch.tensor([[5, 6, 7, 8]])
    with torch.no_grad():
        return model(input_ids=ids, **({"labels": ids} if model.config.is_encoder_decoder else {})).logits


def loaded(folder: Path) -> Any:
    return load_model(folder, read_stored(folder))


class Case(unittest.TestCase):
    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)

    def assert_same(self, folder: Path, model: Any) -> None:
        found = loaded(folder)
        self.assertTrue(torch.equal(logits(found), logits(model)))
        self.assertFalse([name for name, values in found.named_parameters() if values.is_meta])


class PrunedHeads(Case):
    """prune_heads of transformers writes the heads that are gone into config.json."""

    def test_a_model_without_some_heads_is_sketched_and_loaded(self) -> None:
        for kind in ("gpt2", "bert", "roberta"):
            with self.subTest(kind=kind):
                model = model_of(kind)
                model.prune_heads({0: [1], 1: [0]})
                folder = self.place / kind
                model.save_pretrained(folder)
                shapes = {name: values.shape for name, values in sketch_model(folder).named_parameters()}
                self.assertEqual(shapes, {name: each.shape for name, each in model.named_parameters()})
                self.assert_same(folder, model)

    def test_heads_and_layers_that_a_model_lacks_are_refused(self) -> None:
        model = model_of("gpt2")
        model.save_pretrained(self.place)
        for pruned in ({"0": [99]}, {"7": [0]}, {"0": "all"}, {"0": None}):
            model.config.save_pretrained(self.place)
            path = self.place / "config.json"
            config = json.loads(path.read_text(encoding="utf-8"))
            path.write_text(json.dumps({**config, "pruned_heads": pruned}), encoding="utf-8")
            with self.subTest(pruned=pruned), self.assertRaises(Rejected):
                loaded(self.place)


class Tied(Case):
    def test_a_tied_weight_is_found_under_each_of_its_names(self) -> None:
        tried = 0
        for kind in KINDS:
            model = model_of(kind)
            for group in tied_groups(model):
                for name in group:
                    tensors = {
                        key: v for key, v in model.state_dict().items() if key not in group or key == name
                    }
                    for shards in (1, 2):
                        with self.subTest(kind=kind, name=name, shards=shards):
                            place = self.place / f"{kind}-{name}-{shards}"
                            self.assert_same(written(place, model, tensors, shards), model)
                            tried += 1
        self.assertGreater(tried, 50)

    def test_what_save_model_of_safetensors_writes_is_loaded(self) -> None:
        for kind in KINDS:
            for metadata in (None, {"format": "pt"}):
                with self.subTest(kind=kind, metadata=metadata):
                    model = model_of(kind)
                    folder = written(self.place / f"{kind}-{metadata is None}", model, {"a": torch.ones(1)})
                    save_model(model, str(folder / "model.safetensors"), metadata=metadata)
                    self.assert_same(folder, model)

    def test_a_weight_that_is_stored_under_every_name_is_loaded_if_all_are_equal(self) -> None:
        for kind in KINDS:
            model = model_of(kind)
            self.assert_same(written(self.place / kind, model, model.state_dict()), model)
        model = model_of("llama")
        tensors = {**model.state_dict(), "lm_head.weight": model.lm_head.weight.detach().bfloat16()}
        self.assert_same(written(self.place / "rounded", model, tensors), model)

    def test_different_weights_under_the_names_of_one_are_undecided_with_the_cure(self) -> None:
        for kind in KINDS:
            model = model_of(kind)
            for group in tied_groups(model):
                for shards in (1, 2):
                    for other in group[1:]:
                        tensors = {**model.state_dict(), other: model.state_dict()[other] + 0.01}
                        folder = written(self.place / f"{kind}-{other}-{shards}", model, tensors, shards)
                        with self.subTest(kind=kind, other=other), self.assertRaises(Undecided) as undecided:
                            loaded(folder)
                        self.assertIn(other, str(undecided.exception))

    def test_the_cure_gives_the_model_that_was_trained(self) -> None:
        for kind in ("gpt2", "llama", "t5", "bart"):
            model = model_of(kind, **{} if kind == "llama" else {"tie_word_embeddings": True})
            head = model.get_output_embeddings().weight.detach() + 0.01
            folder = written(self.place / kind, model, {**model.state_dict(), "lm_head.weight": head})
            with self.assertRaisesRegex(Undecided, 'set "tie_word_embeddings": false in config.json'):
                loaded(folder)
            path = folder / "config.json"
            config = json.loads(path.read_text(encoding="utf-8"))
            path.write_text(json.dumps({**config, "tie_word_embeddings": False}), encoding="utf-8")
            found = loaded(folder)
            self.assertTrue(torch.equal(found.get_output_embeddings().weight, head), kind)
            self.assertFalse(torch.equal(found.get_input_embeddings().weight, head), kind)

    def test_the_load_check_of_such_a_submission_is_undecided_and_an_agent_is_told_the_cure(self) -> None:
        model = model_of("gpt2")
        head = model.lm_head.weight.detach() + 0.01
        folder = written(self.place / "gpt2", model, {**model.state_dict(), "lm_head.weight": head})
        self.save_tokenizer(folder)
        with self.assertRaisesRegex(Undecided, "tie_word_embeddings"):
            check_load(folder, load, lambda *_: self.fail("no control is needed"))
        told: list[tuple[str, str, str]] = []
        check_model(folder, self.place, lambda *words: told.append(words), math.inf)
        self.assertEqual([one[:2] for one in told], [("load", "undecided")])
        self.assertRegex(told[0][2], r'^the weights .* differ.*"tie_word_embeddings": false in config\.json$')

    def save_tokenizer(self, folder: Path, **names: str) -> PreTrainedTokenizerFast:
        tokenizer = tokenizer_of(["some text"])
        tokenizer.save_pretrained(folder)
        return AutoTokenizer.from_pretrained(folder, **names)


class Positions(Case):
    def test_a_roberta_reads_as_many_tokens_as_it_has_positions_behind_that_of_padding(self) -> None:
        for padding in (0, 1, 3):
            model = self.roberta(padding)
            submission = fitting(model, None, 2)
            self.assertEqual(submission.context, 64 - padding - 1)
            row = [4 + at % 30 for at in range(submission.context)]
            self.assertEqual(submission.next_logits([row]).shape[1], submission.context)
            with self.assertRaises(IndexError):
                submission.next_logits([[*row, 5]])

    def test_models_of_other_types_read_what_their_settings_say(self) -> None:
        for kind in ("gpt2", "llama", "bert"):
            self.assertEqual(fitting(model_of(kind), None, 2).context, 64, kind)

    def roberta(self, padding: int) -> Any:
        config = AutoConfig.for_model("roberta", **{**DECODER, "pad_token_id": padding})
        return loader_of(config).from_config(config).eval()


class Advice(Case):
    def refused(self, action: Callable[[], Any]) -> str:
        with self.assertRaises(Rejected) as rejected:
            action()
        return str(rejected.exception)

    def test_names_of_wrappers_are_said_with_the_way_out(self) -> None:
        model = model_of("gpt2")
        for prefix, words in (("_orig_mod.", "torch.compile"), ("base_model.model.", "PEFT")):
            tensors = {f"{prefix}{name}": values for name, values in model.state_dict().items()}
            folder = written(self.place / words, model, tensors)
            self.assertIn(words, self.refused(lambda folder=folder: loaded(folder)))
        lost = {name: values for name, values in model.state_dict().items() if "ln_f" not in name}
        self.assertNotIn(
            "torch.compile", self.refused(lambda: loaded(written(self.place / "l", model, lost)))
        )

    def test_a_tokenizer_without_start_token_is_refused_with_the_way_out(self) -> None:
        tokenizer = tokenizer_of(["some text"])
        folder = written(self.place / "gpt2", model_of("gpt2"), model_of("gpt2").state_dict())
        PreTrainedTokenizerFast(tokenizer_object=tokenizer.backend_tokenizer).save_pretrained(folder)
        self.assertRegex(self.refused(lambda: load_tokenizer(folder)), r"BOS .*eos_token=….*save_pretrained")

    def test_a_lone_tokenizer_json_is_refused_with_the_way_out(self) -> None:
        """Its type adds <s> and </s>, of which the model has no embedding."""
        model = model_of("llama", bos_token_id=1)
        folder = written(self.place / "llama", model, model.state_dict())
        tokenizer_of(["some text"]).backend_tokenizer.save(str(folder / "tokenizer.json"))
        words = self.refused(lambda: fitting(loaded(folder), *load_tokenizer(folder)))
        self.assertRegex(words, r"tokenizer_config\.json .*PreTrainedTokenizerFast\(.*save_pretrained")


if __name__ == "__main__":
    unittest.main()
