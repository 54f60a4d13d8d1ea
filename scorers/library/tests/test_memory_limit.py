"""Checks what is measured for a memory rule, with real models, and how a measuring process can end."""

import resource
import signal
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from tokenizers import Tokenizer
from tokenizers.models import BPE
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from mlrb_kit.rejected import Rejected
from scorer_library.costs import memory_limit
from scorer_library.costs.memory import NotMeasurable
from scorer_library.costs.memory_limit import (
    limit_gpu,
    limit_process,
    measure_limit,
    measure_once,
    over_limit,
)

MB = 10**6


def save(folder: Path, model: Any) -> Path:
    model.save_pretrained(folder)
    tokenizer = Tokenizer(BPE({"a": 0, "<start>": 1}, []))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<start>").save_pretrained(folder)
    return folder


def save_wide(folder: Path) -> Path:
    """A model of 2 MB whose MLP holds 160 MB for 2 000 tokens, several times."""
    config = LlamaConfig(
        vocab_size=64,
        hidden_size=8,
        intermediate_size=20_000,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=4096,
    )
    return save(folder, LlamaForCausalLM(config))


def save_small(folder: Path, *, positions: int = 2200, unusable: bool = False) -> Path:
    model = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=positions, n_embd=16, n_layer=1, n_head=2))
    if unusable:
        with torch.no_grad():
            model.transformer.wte.weight[0, 0] = float("nan")
    return save(folder, model)


def settings(limit: int, new: int = 8) -> dict[str, int]:
    return {"limitBytes": limit, "forwardTokens": 2000, "newTokens": new}


class Measured(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def test_a_model_of_small_weights_and_huge_activations_is_measured_with_them(self) -> None:
        save_wide(self.folder)
        self.assertLess((self.folder / "model.safetensors").stat().st_size, 3 * MB)
        run = measure_once(self.folder, settings(400 * MB))
        self.assertEqual(run["end"], "measured")
        self.assertGreater(run["atLeastBytes"], 2 * 160 * MB)
        self.assertEqual(run["atMostBytes"], run["numbers"]["netBytes"])

    def test_a_model_over_the_hard_limit_ends_with_that_evidence_and_takes_no_more(self) -> None:
        run = measure_once(save_wide(self.folder), settings(60 * MB))
        detail = "it asked for more than its hard limit"
        self.assertEqual(run, {"end": "over-limit", "atLeastBytes": 120 * MB, "detail": detail})

    def test_a_small_model_is_measured_though_its_outputs_are_no_numbers(self) -> None:
        run = measure_once(save_small(self.folder, unusable=True), settings(120 * MB))
        self.assertEqual(run["end"], "measured")
        self.assertLess(run["atMostBytes"], 60 * MB)

    def test_a_context_too_short_for_the_tokens_gives_no_upper_bound(self) -> None:
        run = measure_once(save_small(self.folder, positions=64), settings(120 * MB))
        self.assertEqual((run["end"], "atMostBytes" in run), ("measured", False))
        self.assertEqual(run["detail"], "its context is too short for the tokens")


class Ends(unittest.TestCase):
    def once(self, error: Exception) -> dict[str, Any]:
        def measure(_script: Path, _folder: Path, _settings: dict[str, int]) -> dict[str, Any]:
            raise error

        return measure_once(Path(), settings(MB), measure)

    def test_a_rule_is_measured_three_times(self) -> None:
        runs = [{"end": "measured", "atLeastBytes": at, "atMostBytes": at} for at in (900, 7, 8)]
        with mock.patch.object(memory_limit, "measure_once", side_effect=runs):
            found = measure_limit(Path(), limit_bytes=10, tokens=5, new_tokens=0)
        self.assertEqual(found, {"bytes": 10, "tokens": 5, "newTokens": 0, "runs": runs})

    def test_a_model_that_fails_crashes_or_computes_too_long_is_not_the_machine_s_fault(self) -> None:
        for error, detail in (
            (Rejected("no config.json"), "no config.json"),
            (NotMeasurable("", -signal.SIGSEGV), "ends the process with SIGSEGV"),
            (NotMeasurable("", -signal.SIGXCPU), "needs more than 540 s of computing"),
        ):
            self.assertEqual(self.once(error), {"end": "failed", "atLeastBytes": 0, "detail": detail})

    def test_a_process_killed_from_outside_or_a_broken_one_is_the_machine_s_fault(self) -> None:
        for status in (-signal.SIGKILL, 1, None):
            with self.assertRaises(NotMeasurable):
                self.once(NotMeasurable("", status))

    def test_a_machine_with_too_little_memory_says_nothing_about_the_submission(self) -> None:
        self.assertEqual(over_limit(111, 100)["atLeastBytes"], 111)
        with self.assertRaisesRegex(
            NotMeasurable, "allows 100 bytes, and this machine can give a process 0 now"
        ):
            over_limit(-5, 100)


class Limits(unittest.TestCase):
    def limited(self, wanted: int, *, free: int) -> tuple[int, int]:
        with (
            mock.patch.object(memory_limit, "free_bytes", lambda: free),
            mock.patch.object(memory_limit, "held_bytes", lambda: 7 * MB),
            mock.patch.object(resource, "getrlimit", lambda _: (-1, resource.RLIM_INFINITY)),
            mock.patch.object(resource, "setrlimit") as set_limit,
            mock.patch.object(Path, "write_text") as write,
        ):
            room = limit_process(wanted)
        write.assert_called_once_with("1000")  # the kernel ends this process first
        return room, set_limit.call_args.args[1][0]

    def test_a_process_may_take_what_it_holds_and_the_room(self) -> None:
        self.assertEqual(self.limited(240 * MB, free=2**34), (240 * MB, 247 * MB))

    def test_a_gibibyte_stays_free_on_the_machine(self) -> None:
        self.assertEqual(self.limited(24_000 * MB, free=2**33), (7 * 2**30, 7 * 2**30 + 7 * MB))

    def test_on_a_fake_gpu_the_limit_is_a_share_of_its_memory(self) -> None:
        with (
            mock.patch.object(torch.cuda, "mem_get_info", lambda: (60 * MB, 80 * MB)),
            mock.patch.object(torch.cuda, "set_per_process_memory_fraction") as share,
        ):
            self.assertEqual(limit_gpu(40 * MB), 40 * MB)
            self.assertEqual(limit_gpu(400 * MB), 60 * MB)
        self.assertEqual([call.args[0] for call in share.call_args_list], [0.5, 0.75])


if __name__ == "__main__":
    unittest.main()
