"""Checks on which device models run. CUDA is a fake; its results are not tested."""

import ast
import os
import unittest
from pathlib import Path
from unittest import mock

import torch

from library import device as library_device
from library.gpt2 import Gpt2
from library.hand_in import hand_in
from library.repeatable import repeatable
from mlrb_kit import device
from mlrb_kit.log_probabilities import log_probabilities
from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import Submission, blame
from scorer_library.costs import efficiency_speed, memory_peak

REPOSITORY = Path(__file__).parents[3]


def held(gpus: str) -> object:
    return mock.patch.dict(os.environ, {"MLRB_GPUS": gpus})


def fake_cuda(**more: object) -> object:
    cuda = {"is_available": lambda: True, "is_bf16_supported": lambda: True, "synchronize": lambda: None}
    return mock.patch.multiple(torch.cuda, **{**cuda, **more})


class WhereModelsRun(unittest.TestCase):
    def test_without_a_gpu_held_it_is_the_processor_even_where_a_fake_cuda_has_one(self) -> None:
        for gpus in ("", "0"):
            with held(gpus), fake_cuda():
                self.assertEqual(device.device().type, "cpu")
                self.assertEqual(library_device.device().type, "cpu")
                self.assertEqual(library_device.dtype(), torch.float32)
                self.assertEqual(device.device_name(), "cpu")

    def test_with_one_held_it_is_the_fake_gpu_and_products_are_bfloat16_where_it_knows_them(self) -> None:
        with held("1"), fake_cuda():
            self.assertEqual(device.device().type, "cuda")
            self.assertEqual(library_device.device().type, "cuda")
            self.assertEqual(library_device.dtype(), torch.bfloat16)
        with held("2"), fake_cuda(is_bf16_supported=lambda: False):
            self.assertEqual(library_device.dtype(), torch.float32)

    def test_a_held_gpu_that_torch_does_not_see_is_an_error_with_a_way_out(self) -> None:
        with held("1"), fake_cuda(is_available=lambda: False):
            with self.assertRaisesRegex(device.NoGpu, r"holds 1 GPU.* sees none: .*choose a profile without"):
                device.device()
            with self.assertRaisesRegex(SystemExit, "sees none"):
                library_device.device()

    def test_failures_of_the_gpu_are_never_the_submissions(self) -> None:
        for words in (
            "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.1 GiB",
            "CUDA error: an illegal memory access was encountered",
            "cuBLAS error: CUBLAS_STATUS_NOT_INITIALIZED",
        ):
            with self.assertRaisesRegex(RuntimeError, "C"), blame("the model fails on text"):
                raise RuntimeError(words)
        with self.assertRaises(device.NoGpu), blame("the model fails on text"):
            raise device.NoGpu("none")
        with self.assertRaises(Rejected), blame("the model fails on text"):
            raise RuntimeError("shapes do not match")

    def test_ids_are_put_where_the_model_is(self) -> None:
        # `meta` acts as a second device: it refuses ids that are on the CPU
        seen = []

        class Model:
            def __call__(self, input_ids: torch.Tensor) -> object:
                seen.append(input_ids.device.type)
                return mock.Mock(logits=torch.zeros(1, input_ids.shape[1], 7))

        submission = Submission(Model(), None, 0, 7, None)
        with mock.patch("mlrb_kit.submission.device", lambda: torch.device("meta")):
            log_probabilities(submission, [1, 2, 3])
        log_probabilities(submission, [1, 2, 3])
        self.assertEqual(seen, ["meta", "cpu"])

    def test_a_clock_is_read_only_once_the_fake_gpu_is_done(self) -> None:
        happened = []
        with (
            held("1"),
            fake_cuda(synchronize=lambda: happened.append("wait")),
            mock.patch.object(efficiency_speed, "write_tokens", lambda *_: happened.append("write")),
            mock.patch("time.perf_counter", lambda: happened.append("clock") or 0.0),
        ):
            efficiency_speed.seconds(None, [1], 2)
        self.assertEqual(happened, ["wait", "clock", "write", "wait", "clock"])

    def test_the_peak_is_that_of_the_fake_gpu_and_says_so(self) -> None:
        asked = []
        model = Gpt2(16, 64, 8, 1, 1)
        embeddings = mock.Mock(weight=model.wte.weight)
        with (
            held("1"),
            fake_cuda(
                reset_peak_memory_stats=lambda: asked.append("reset"),
                memory_allocated=lambda: 1_000,
                max_memory_allocated=lambda: 5_000 + len(asked),
                get_device_name=lambda: "Fake H100",
            ),
            mock.patch.multiple(
                memory_peak,
                check_files=lambda _: None,
                prepare=lambda _: None,
                load_model=lambda *_: mock.Mock(
                    parameters=lambda: [],
                    buffers=lambda: [],
                    named_modules=lambda: [],
                    config=mock.Mock(n_positions=64, max_position_embeddings=64, n_ctx=64),
                    get_input_embeddings=lambda: embeddings,
                ),
                read_tokens=lambda *_: torch.zeros(2, 16),
                write_tokens=lambda *_, **__: asked.append("write"),
                check_usable=lambda *_: None,
            ),
        ):
            found = memory_peak.measure(Path("none"), {"forwardTokens": 8, "newTokens": 4})
        self.assertEqual(asked, ["reset", "write"])
        self.assertEqual(found["netBytes"], 5_002 - 1_000)
        self.assertEqual(found["importsBytes"], 1_000)
        self.assertEqual(found["device"], "Fake H100")

    def test_the_order_of_sums_is_fixed_on_a_gpu_too(self) -> None:
        with mock.patch.dict(os.environ):
            os.environ.pop("CUBLAS_WORKSPACE_CONFIG", None)
            repeatable()
            self.assertEqual(os.environ["CUBLAS_WORKSPACE_CONFIG"], ":4096:8")
        torch.use_deterministic_algorithms(False)

    def test_a_submission_is_moved_to_the_cpu(self) -> None:
        moved = []
        tensor = mock.Mock(cpu=lambda: moved.append("cpu") or torch.zeros(2))
        model = mock.Mock(config={"n_positions": 4}, state_dict=lambda: {"wte.weight": tensor})
        tokenizer = mock.Mock(token_to_id=lambda _: 0)
        with mock.patch("library.hand_in.save_file") as saved, self.subTest():
            import tempfile

            with tempfile.TemporaryDirectory() as folder:
                hand_in(Path(folder), model, tokenizer, {})
        self.assertEqual(moved, ["cpu"])
        self.assertEqual(saved.call_args.args[0]["transformer.wte.weight"].device.type, "cpu")


class EveryProgram(unittest.TestCase):
    """Reads the sources: code that stays on the CPU would pass every test without a GPU."""

    def test_code_that_loads_or_makes_a_model_names_its_device(self) -> None:
        checked = []
        for path in programs():
            text = path.read_text(encoding="utf-8")
            calls = {name_of(node.func) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)}
            runs = bool(calls & {"backward", "model", "write_tokens"}) or "inference_mode" in calls
            if not runs or "torch" not in text:
                continue
            checked.append(path.relative_to(REPOSITORY).as_posix())
            asks = calls & {"device", "finished", "on_gpu", "next_logits"}  # Submission.next_logits names it
            self.assertTrue(asks, f"{path} runs a model and never asks where")
        self.assertGreater(len(checked), 8, checked)
        self.assertIn("tasks/library/pretrain.py", checked)
        self.assertIn("runners/kit/python/mlrb_kit/submission.py", checked)
        self.assertIn("scorers/library/scorer_library/generation/generate.py", checked)


def programs() -> list[Path]:
    places = ("tasks", "scorers", "pipelines", "runners/kit/python")
    found = [path for place in places for path in (REPOSITORY / place).rglob("*.py")]
    return sorted(path for path in found if not {"testing", "tests", "node_modules"} & set(path.parts))


def name_of(function: ast.expr) -> str:
    return getattr(function, "attr", None) or getattr(function, "id", "")


if __name__ == "__main__":
    unittest.main()
