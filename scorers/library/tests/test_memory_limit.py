"""Checks how a measurement for a memory rule can end, and its hard limit; test_memory_peaks has the peaks."""

import os
import resource
import signal
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from memory_models import MB, save_wide, settings

from mlrb_kit.rejected import Rejected
from scorer_library.costs import memory_limit
from scorer_library.costs.memory import NotMeasurable
from scorer_library.costs.memory_limit import (
    failed,
    limit_gpu,
    limit_process,
    measure_limit,
    measure_once,
    over_limit,
)


class Measured(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def test_a_model_over_the_hard_limit_ends_with_that_evidence_and_takes_no_more(self) -> None:
        run = measure_once(save_wide(self.folder), settings(60 * MB))
        detail = "it asked for more than its hard limit"
        self.assertEqual(run, {"end": "over-limit", "atLeastBytes": 120 * MB, "detail": detail})


class Ends(unittest.TestCase):
    def once(self, error: Exception) -> dict[str, Any]:
        def measure(_script: Path, _folder: Path, _settings: dict[str, int]) -> dict[str, Any]:
            raise error

        return measure_once(Path(), settings(MB), measure)

    def measured(self, *peaks: int | None, limit: int = 100) -> int:
        """The number of runs; None is a run that failed."""
        runs = [
            {"end": "measured", "atLeastBytes": at, "atMostBytes": at} if at is not None else failed(0, "x")
            for at in peaks
        ]
        with mock.patch.object(memory_limit, "measure_once", side_effect=runs):
            found = measure_limit(Path(), limit_bytes=limit, tokens=5, new_tokens=0)
        taken = len(found["runs"])
        self.assertEqual(found, {"bytes": limit, "tokens": 5, "newTokens": 0, "runs": runs[:taken]})
        return taken

    def test_a_rule_is_measured_until_the_answer_is_clear(self) -> None:
        self.assertEqual(self.measured(75, 900, 900), 1)
        self.assertEqual(self.measured(76, 89, 900), 2)
        self.assertEqual(self.measured(200, 111, 7), 2)
        for open_runs in ((76, 90, 7), (110, 200, 7), (80, 900, 7), (900, 60, 900)):
            self.assertEqual(self.measured(*open_runs), 3)

    def test_a_failed_run_decides_nothing(self) -> None:
        self.assertEqual(self.measured(None, 7, 7), 3)
        self.assertEqual(self.measured(80, None, 80), 3)
        self.assertEqual(self.measured(None, None, None), 3)

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

    def on_fake_gpu(self, recipe: Callable[..., Any]) -> dict[str, Any]:
        """One run where torch held 7 bytes before and 50 at most, under a limit of 20 MB."""
        with (
            mock.patch.dict(os.environ, {"MLRB_GPUS": "1"}),
            mock.patch.multiple(
                torch.cuda,
                is_available=lambda: True,
                synchronize=lambda: None,
                reset_peak_memory_stats=lambda: None,
                memory_allocated=lambda: 7,
                max_memory_allocated=lambda: 50,
                get_device_name=lambda: "Fake H100",
                mem_get_info=lambda: (60 * MB, 80 * MB),
                set_per_process_memory_fraction=lambda _: None,
            ),
            mock.patch.multiple(
                memory_limit, check_files=mock.Mock(), prepare=mock.Mock(), run_recipe=recipe
            ),
            mock.patch.object(resource, "setrlimit") as set_limit,
        ):
            run = memory_limit.run_once(Path(), settings(20 * MB))
        self.assertEqual([call.args[0] for call in set_limit.call_args_list], [resource.RLIMIT_CPU])
        return run

    def test_on_a_fake_gpu_the_peak_is_torch_s_and_the_run_names_the_gpu(self) -> None:
        run = self.on_fake_gpu(lambda *args, **_: ({"netBytes": args[3].peak() - args[3].before}, None))
        self.assertEqual((run["atMostBytes"], run["device"]), (43, "Fake H100"))

    def test_a_fake_gpu_s_end_of_memory_is_over_the_limit_and_its_assertion_is_the_model_s(self) -> None:
        for message, end, at_least in (
            ("CUDA out of memory. Tried to allocate 2 GiB", "over-limit", 40 * MB),
            ("CUDA error: device-side assert triggered\nCUDA kernel errors", "failed", 0),
        ):
            run = self.on_fake_gpu(mock.Mock(side_effect=RuntimeError(message)))
            self.assertEqual((run["end"], run["atLeastBytes"]), (end, at_least))
        with self.assertRaisesRegex(RuntimeError, "unspecified launch failure"):
            self.on_fake_gpu(mock.Mock(side_effect=RuntimeError("CUDA error: unspecified launch failure")))


if __name__ == "__main__":
    unittest.main()
