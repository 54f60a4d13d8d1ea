"""Checks what is measured for a memory rule, with real models in real processes."""

import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from memory_models import MB, save, save_small, save_wide, settings
from transformers import CONFIG_MAPPING, XLMConfig, XLMWithLMHeadModel

from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import Submission
from scorer_library.costs.memory_limit import measure_once
from scorer_library.costs.memory_use import write_tokens
from scorer_library.generation.generate import generate
from scorer_library.generation.items import GenerationSettings

SIZES = ("hidden_size", "intermediate_size", "lru_width", "num_hidden_layers", "num_attention_heads")


class Measured(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def test_a_small_model_is_measured_though_its_outputs_are_no_numbers(self) -> None:
        run = measure_once(save_small(self.folder, unusable=True), settings(120 * MB))
        self.assertEqual(run["end"], "measured")
        self.assertLess(run["atMostBytes"], 60 * MB)

    def test_the_peak_is_little_more_than_the_tensors_that_are_held_at_once(self) -> None:
        sizes = {
            "vocab_size": 64,
            "emb_dim": 32,
            "n_layers": 2,
            "n_heads": 1,
            "max_position_embeddings": 2200,
        }
        model = XLMWithLMHeadModel(XLMConfig(**sizes, causal=True, pad_index=0, bos_index=0, eos_index=0))
        run = measure_once(save(self.folder, model), settings(120 * MB))  # 4 matrices of 16 MB at a time
        self.assertEqual(run["end"], "measured")
        self.assertLess(run["atMostBytes"], 100 * MB)

    def test_no_context_that_a_model_states_shortens_the_recipe(self) -> None:
        save_wide(self.folder, positions=64)
        run = measure_once(self.folder, settings(400 * MB))
        self.assertEqual((run["end"], run["numbers"]["forwardTokens"]), ("measured", 2000))
        self.assertGreater(run["atLeastBytes"], 2 * 160 * MB)

    def test_a_recipe_may_write_no_token(self) -> None:
        run = measure_once(save_small(self.folder), {**settings(120 * MB), "newTokens": 0})
        self.assertEqual((run["end"], run["numbers"]["newTokens"]), ("measured", 0))

    def test_a_model_with_too_few_positions_fails_with_its_reason_and_what_it_held(self) -> None:
        run = measure_once(save_small(self.folder, positions=64), settings(120 * MB))
        self.assertEqual((run["end"], "atMostBytes" in run), ("failed", False))
        self.assertRegex(run["detail"], "the model fails on text: IndexError")
        self.assertGreater(run["atLeastBytes"], 0)

    def test_no_model_reads_its_tokens_again_for_each_new_one(self) -> None:
        for kind in ("llama", "mamba", "mamba2", "rwkv", "recurrent_gemma"):
            for write in (write_tokens, write_answer):
                with self.subTest(f"{kind}, {write.__name__}"):
                    self.assertEqual(lengths_read(kind, write), [20, 1, 1, 1])

    def test_an_encoder_decoder_reads_its_prompt_once(self) -> None:
        from transformers import AutoModelForSeq2SeqLM

        sizes = {"d_model": 32, "d_ff": 64, "d_kv": 8, "num_layers": 2, "num_heads": 4}
        config = CONFIG_MAPPING["t5"](vocab_size=64, decoder_start_token_id=0, **sizes)
        model = AutoModelForSeq2SeqLM.from_config(config).eval()
        read = {"encoder": list[int](), "decoder": list[int]()}
        for part, seen in read.items():
            getattr(model, part).register_forward_pre_hook(
                lambda _part, _args, given, seen=seen: seen.append(given["input_ids"].shape[1]),
                with_kwargs=True,
            )
        write_tokens(model, list(range(20)), 4)
        self.assertEqual(read, {"encoder": [20], "decoder": [1, 1, 1, 1]})

    def test_an_output_that_is_no_number_rejects_a_model_that_must_be_usable(self) -> None:
        model = small_model("llama")
        model.get_output_embeddings().weight.data.fill_(float("nan"))
        with self.assertRaisesRegex(Rejected, "non-finite output"):
            write_tokens(model, list(range(20)), 4)
        write_tokens(model, list(range(20)), 4, usable=False)


def write_answer(model: Any, ids: list[int], count: int) -> None:
    names = SimpleNamespace(convert_ids_to_tokens=str, decode=lambda ids, **_: str(ids))
    submission = Submission(model, names, ids[0], 64, None)
    settings = GenerationSettings(count, None)
    found = generate(submission, ids[1:], name="a", ends=frozenset(), settings=settings)
    assert found.tokens == count


def lengths_read(kind: str, write: Callable[[Any, list[int], int], None]) -> list[int]:
    """The number of tokens of each pass while four tokens are written after 20."""
    model = small_model(kind)
    seen: list[int] = []
    model.register_forward_pre_hook(
        lambda _model, _args, given: seen.append(given["input_ids"].shape[1]), with_kwargs=True
    )
    write(model, list(range(20)), 4)
    return seen


def small_model(kind: str) -> Any:
    from transformers import AutoModelForCausalLM

    sizes = {**dict.fromkeys(SIZES[:3], 32), **dict.fromkeys(SIZES[3:], 2)}
    known = CONFIG_MAPPING[kind]()
    more = {"num_heads": 8, "head_dim": 8, "n_groups": 1} if kind == "mamba2" else {}
    config = {name: size for name, size in sizes.items() if hasattr(known, name)}
    return AutoModelForCausalLM.from_config(CONFIG_MAPPING[kind](vocab_size=64, **{**config, **more})).eval()


if __name__ == "__main__":
    unittest.main()
