"""Checks which loads are the submission's fault, with loads that take memory or time, or that crash."""

import math
import os
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from mlrb_kit import load_check
from mlrb_kit.load_check import OverLimit, check_load
from mlrb_kit.rejected import Rejected

MIB = 2**20
SUBMISSION_BYTES, CONTROL_BYTES = 1000, 2000


def write(folder: Path, size: int) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "model.safetensors").write_bytes(bytes(size))
    return folder


def is_control(folder: Path) -> bool:
    return (folder / "model.safetensors").stat().st_size == CONTROL_BYTES


def take(size: int) -> None:
    held = bytearray(size)
    held[::4096] = b"x" * len(held[::4096])


def compute_for_ever(_folder: Path) -> None:
    while True:
        pass


def refuse(_folder: Path) -> None:
    raise Rejected("no config.json")


def fail_as_torch(_folder: Path) -> None:
    raise RuntimeError(
        "DefaultCPUAllocator: can't allocate memory: you tried to allocate 4000000000000 bytes"
    )


@mock.patch.object(load_check, "MEMORY_SLACK", 64 * MIB)
@mock.patch.object(load_check, "SECONDS_MIN", 1)
class LoadCheck(unittest.TestCase):
    def check(
        self,
        load: Callable[[Path], None],
        *,
        control: Callable[[Path], None] | None = None,
        memory_max: float = math.inf,
    ) -> None:
        with tempfile.TemporaryDirectory() as folder:
            check_load(
                write(Path(folder), SUBMISSION_BYTES),
                lambda path: (control or (lambda _: None))(path) if is_control(path) else load(path),
                lambda path, _size: write(path, CONTROL_BYTES) and None,
                memory_max,
            )

    def test_a_load_that_may_take_less_memory_here_is_no_fault_of_the_submission(self) -> None:
        self.check(lambda _: take(10 * MIB), memory_max=32 * MIB)
        with self.assertRaisesRegex(RuntimeError, r"all that it may take here; .* may take 0\.1 GiB"):
            self.check(lambda _: take(50 * MIB), memory_max=32 * MIB)
        with self.assertRaisesRegex(Rejected, "of memory to load"):
            self.check(lambda _: take(400 * MIB), memory_max=640 * MIB)

    def test_a_load_within_the_limits_passes(self) -> None:
        self.check(lambda _: take(40 * MIB))

    def test_a_load_that_a_scorer_refuses_passes(self) -> None:
        self.check(refuse)

    def test_a_load_over_a_limit_of_its_own_is_rejected_without_a_control(self) -> None:
        def load(_folder: Path) -> None:
            raise OverLimit("its normalizer can make a text 1e+16 times longer")

        with self.assertRaisesRegex(Rejected, "1e\\+16 times longer"):
            self.check(load, control=compute_for_ever)

    def test_a_folder_without_weights_passes(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            check_load(Path(folder), compute_for_ever, lambda *_: None)

    def test_a_load_beyond_the_memory_limit_is_rejected_with_the_limit(self) -> None:
        with self.assertRaisesRegex(Rejected, r"needs more than 0\.1 GiB of memory to load"):
            self.check(lambda _: take(400 * MIB))

    def test_a_library_that_reports_or_aborts_without_memory_is_rejected_for_memory(self) -> None:
        for load in (fail_as_torch, lambda _: os.abort()):
            with self.assertRaisesRegex(Rejected, "of memory to load"):
                self.check(load)

    def test_a_load_that_computes_too_long_twice_is_rejected_with_both_times(self) -> None:
        with self.assertRaisesRegex(Rejected, r"more than 1 s of computing .* known-good model of 0 MiB"):
            self.check(compute_for_ever)

    def test_a_load_that_crashes_twice_is_rejected_with_the_signal(self) -> None:
        with self.assertRaisesRegex(Rejected, "ends the program, twice: SIGSEGV"):
            self.check(lambda _: os.kill(os.getpid(), 11))

    def test_a_load_that_crashes_once_passes(self) -> None:
        with tempfile.TemporaryDirectory() as place:
            marker = Path(place, "marker")

            def load(_folder: Path) -> None:
                if not marker.exists():
                    marker.touch()
                    os.kill(os.getpid(), 11)

            self.check(load)

    def test_a_child_killed_from_outside_says_nothing_about_the_submission(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "ended from outside"):
            self.check(lambda _: os.kill(os.getpid(), 9))

    def test_a_machine_with_too_little_memory_says_nothing_about_the_submission(self) -> None:
        with (
            mock.patch.object(load_check, "free_bytes", lambda: MIB),
            self.assertRaisesRegex(RuntimeError, "too little memory"),
        ):
            self.check(fail_as_torch)

    def test_a_limit_of_the_operator_says_nothing_about_the_submission(self) -> None:
        low = mock.patch.object(load_check.resource, "getrlimit", lambda _: (MIB, MIB))
        with low, self.assertRaisesRegex(RuntimeError, "raise its limits.memory"):
            self.check(lambda _: None)

    def test_where_a_known_good_model_fails_too_nothing_is_said_about_the_submission(self) -> None:
        for control in (lambda _: take(400 * MIB), compute_for_ever):
            with self.assertRaisesRegex(RuntimeError, "known-good model does not load here either"):
                self.check(lambda _: take(400 * MIB), control=control)


if __name__ == "__main__":
    unittest.main()
