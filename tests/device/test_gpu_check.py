"""Tests of gpu_check.py without a GPU: what counts as equal, and what its status says."""

import tempfile
import unittest
from pathlib import Path

import gpu_check
from gpu_check import ALLOCATED, Line, cause, peak_line, score_line, shared, status, table, verdict_line


def scored(value: float, error: float | None) -> dict[str, object]:
    return {"kind": "scored", "value": value, "standardError": error}


class GpuCheck(unittest.TestCase):
    def test_scores_may_differ_by_a_tenth_of_their_standard_error(self) -> None:
        cpu = scored(2.0, 0.1)
        self.assertEqual(score_line("s", cpu, scored(2.0099, 0.1)).answer, "ok")
        self.assertEqual(score_line("s", cpu, scored(1.9899, 0.1)).answer, "DIFFERS")
        for error in (None, 0.0):
            self.assertEqual(score_line("s", scored(2.0, error), scored(2.0, 0.1)).answer, "ok")
            self.assertEqual(score_line("s", scored(2.0, error), scored(2.001, 0.1)).answer, "DIFFERS")

    def test_a_score_on_one_device_alone_differs(self) -> None:
        rejected = {"kind": "rejected", "reason": "NaN"}
        self.assertEqual(score_line("s", scored(2.0, 0.1), rejected).answer, "DIFFERS")
        self.assertEqual(score_line("s", rejected, scored(2.0, 0.1)).answer, "DIFFERS")

    def test_a_score_that_is_not_a_number_differs(self) -> None:
        self.assertEqual(score_line("s", scored(2.0, 0.1), scored(float("nan"), 0.1)).answer, "DIFFERS")

    def test_a_gpu_that_two_stages_hold_at_once_is_shared_in_any_order(self) -> None:
        a, b, c = ("GPU-1", 0.0, 2.0), ("GPU-1", 2.0, 4.0), ("GPU-2", 1.0, 3.0)
        self.assertEqual(shared([c, b, a]), [])
        for late in (("GPU-1", 1.9, 2.1), ("GPU-1", 0.5, 0.6), ("GPU-1", 3.9, 9.0)):
            self.assertIn("GPU-1", shared([late, b, c, a]))

    def test_a_peak_may_differ_from_the_allocation_by_a_hundredth(self) -> None:
        for peak, answer in (
            (ALLOCATED, "ok"),
            (ALLOCATED + 512, "ok"),
            (0, "DIFFERS"),
            (2 * ALLOCATED, "DIFFERS"),
        ):
            self.assertEqual(peak_line(peak).answer, answer, peak)

    def test_the_status_tells_nothing_compared_from_all_within_and_one_outside(self) -> None:
        ok, off, none = (Line("c", "f", "e", answer) for answer in ("ok", "DIFFERS", "not compared"))
        self.assertEqual([status(each) for each in ([], [none], [none, ok], [ok, off, none])], [2, 2, 0, 1])
        self.assertEqual(verdict_line("n", "undecided", "causal").answer, "DIFFERS")

    def test_trouble_is_an_exception_of_python_or_the_first_line_of_a_diagnostic(self) -> None:
        self.assertEqual(
            cause("Traceback (most recent call last):\n  File x\nValueError: no\n"), "ValueError: no"
        )
        self.assertEqual(cause("too-few-gpus: none\n  help: more\n"), "too-few-gpus: none")
        self.assertEqual(cause(""), "no output")

    def test_a_check_that_cannot_run_is_not_compared_and_the_others_go_on(self) -> None:
        class Broken(gpu_check.Bench):
            def python(self, *command: str, **_more: object) -> str:
                raise gpu_check.Trouble(f"no {command[0]}")

        before = gpu_check.leases
        gpu_check.leases = lambda _folder: Line("leases", "", "", "ok")
        try:
            with tempfile.TemporaryDirectory() as folder:
                lines = gpu_check.checks(Broken(Path(folder), rehearsal=True), rehearsal=False)
        finally:
            gpu_check.leases = before
        answers = [line.answer for line in lines]
        self.assertEqual(set(answers), {"not compared", "ok"})
        self.assertIn("no -c", table(lines))


if __name__ == "__main__":
    unittest.main()
