"""Checks that only confirmed proofs count, with a stand-in for Lean 3 (scorers/testing/lean3_stub.py)."""

# ruff: noqa: RUF001 (the sign for the natural numbers)

import dataclasses
import os
import shlex
import stat
import sys
import tempfile
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from mlrb_kit.results import read_jsonl
from scorer_library.generation.items import read_math
from scorer_library.lean.check import Verdict
from scorer_library.lean3.check import CANARIES, Lean3, open_lean3
from scorer_library.lean3.command import Lean3Missing, find_lean3, missing_command
from scorer_library.lean3.score import lean3_score
from scorer_library.lean3.settings import read_lean3
from scorer_library.lean3.text import COMMANDS, NoTheorem, Theorem, read_theorem

FIXTURES = Path(__file__).parents[1] / "fixtures"
DATA = read_math(FIXTURES / "private")
STUB = shlex.join([sys.executable, "-I", "-S", str(Path(__file__).parents[2] / "testing" / "lean3_stub.py")])


@contextmanager
def stub(command: str = STUB) -> Iterator[None]:
    with mock.patch.dict(os.environ, {"MLRB_SCORER_COMMAND": command}):
        yield


@contextmanager
def opened(**change: float) -> Iterator[Lean3]:
    """Without the checks of Lean itself, which `Commands` tests."""
    settings = dataclasses.replace(read_lean3(DATA), **change)
    with stub(), tempfile.TemporaryDirectory() as folder:
        yield Lean3(find_lean3(), settings, Path(folder).resolve(), {})


class Hostile(unittest.TestCase):
    def test_no_hostile_text_reaches_lean(self) -> None:
        rows = read_jsonl(FIXTURES / "hostile.jsonl")
        self.assertGreater(len(rows), 100)
        for row in rows:
            with self.subTest(row["id"]):
                found = read_theorem(row["text"])
                self.assertIsInstance(found, NoTheorem)
                self.assertIn(row["reason"], found.reason)

    def test_every_forbidden_command_is_refused_before_and_after_the_theorem(self) -> None:
        for word in COMMANDS:
            for text in (f"{word} y theorem x : true := trivial", f"theorem x : true := trivial\n{word} y"):
                self.assertIsInstance(read_theorem(text), NoTheorem, text)

    def test_a_proof_that_rests_on_sorry_or_an_axiom_does_not_count(self) -> None:
        texts = {
            "theorem y (p : Prop) : p := sorry\n": "rests on [sorry], no axioms",
            "axiom cheat (p : Prop) : p\ntheorem y (p : Prop) : p := cheat p\n": "rests on cheat",
        }
        with opened() as lean:
            for text, reason in texts.items():
                self.assertEqual(lean.prove(text, "y"), Verdict(False, reason))

    def test_work_without_end_is_stopped_by_the_clock_or_by_the_memory_it_takes(self) -> None:
        with opened(seconds=1.0) as lean:
            self.assertEqual(lean.judge("theorem x : true := loop").reason, "over the time limit")
        with opened(seconds=20.0, memory_bytes=200_000_000) as lean:
            self.assertEqual(lean.judge("theorem x : true := grow").reason, "over the memory limit")

    def test_texts_after_the_time_of_all_texts_count_as_stopped_by_a_limit(self) -> None:
        now = [0.0]

        def slow(_lean: Lean3, source: str, name: str) -> Verdict:
            now[0] += 0 if name == "mlrb_canary" else 60
            return Verdict("sorry" not in source and "q : Prop" not in source, "")

        texts = [f"theorem x : {at} = {at} := rfl" for at in (1, 2, 2, 3)]
        settings = dataclasses.replace(read_lean3(DATA), seconds_all=100.0)
        with (
            stub(),
            mock.patch("scorer_library.lean3.score.read_lean3", return_value=settings),
            mock.patch.object(Lean3, "prove", slow),
            mock.patch("scorer_library.lean3.check.time.monotonic", lambda: now[0]),
        ):
            score, samples = lean3_score(DATA, texts)
        self.assertEqual([one["value"] for one in samples], [1.0, 1.0, 1.0, 0.0])
        self.assertEqual(samples[3]["reason"], "over the time limit of all texts")
        self.assertEqual(score["extra"]["stoppedByLimits"], 1)

    def test_an_answer_of_the_text_itself_is_no_evidence(self) -> None:
        with opened() as lean, mock.patch.object(lean, "run") as run:
            said = {"severity": "information", "data": "no axioms"}
            ran = mock.Mock(clean=True, messages=({**said, "file_name": "/x/mlrb_candidate.lean"},))

            def compiled(scratch: Path, *_: str, make: bool) -> mock.Mock:
                Path(scratch, "mlrb_candidate.olean").touch()
                return ran

            run.side_effect = compiled
            verdict = lean.prove("theorem x : false := forged", "x")
        self.assertEqual(verdict, Verdict(False, "Lean does not report the theorem's axioms"))

    def test_a_text_that_failed_leaves_nothing_behind_for_the_next(self) -> None:
        with opened() as lean:
            self.assertTrue(lean.judge("theorem x : 1 + 1 = 2 := rfl").compiles)
            self.assertFalse(lean.judge("theorem y : 1 + 1 = 3 := rfl").compiles)
            self.assertEqual(list(lean.folder.iterdir()), [])


class Honest(unittest.TestCase):
    def test_reference_proofs_compile(self) -> None:
        with stub():
            score, _ = lean3_score(DATA, [item.formal_proof for item in DATA.items])
        self.assertEqual((score["value"], score["extra"]), (1.0, {"stoppedByLimits": 0}))
        self.assertEqual(
            {name: group["items"] for name, group in score["groups"].items()},
            {"near-statement": 1, "new": 2, "same-statement": 1},
        )

    def test_a_proof_of_something_else_counts(self) -> None:
        with stub():
            score, samples = lean3_score(DATA, ["theorem x : true := trivial" for _ in DATA.items])
        self.assertEqual(score["value"], 1.0)
        self.assertEqual(samples[0], {"value": 1.0, "weight": 1, "compiles": True, "reason": ""})

    def test_a_theorem_may_import_modules_open_namespaces_and_hold_blocks(self) -> None:
        text = """import data.real.basic tactic.norm_num
open nat real
open_locale big_operators

/-- A sum. -/
lemma some_sum.first (n : ℕ) : ∑ i in finset.range 3, i = 3 :=
begin
  -- by computation
  cases n with m, { simp },
  exact match m with 0 := by begin simp end | (k+1) := rfl end,
end"""
        found = read_theorem(text)
        self.assertIsInstance(found, Theorem)
        self.assertEqual(found.name, "some_sum.first")
        self.assertEqual(found.imports, ("data.real.basic", "tactic.norm_num"))
        self.assertEqual(found.opened, ("open nat real", "open_locale big_operators"))
        self.assertNotIn("computation", found.text)

    def test_the_three_axioms_of_lean_are_allowed(self) -> None:
        with opened() as lean:
            self.assertTrue(lean.judge("theorem x (p : Prop) : p ∨ ¬p := classical.em p").compiles)


class Commands(unittest.TestCase):
    def test_without_a_command_there_is_a_reason_and_no_error(self) -> None:
        with stub(""):
            self.assertRegex(str(missing_command()), r"names no Lean 3 \(command:\)")
        with stub():
            self.assertIsNone(missing_command())

    def test_a_command_that_is_missing_is_an_error(self) -> None:
        with stub("/nowhere/lean"), self.assertRaisesRegex(Lean3Missing, "no program"):
            find_lean3()

    def test_a_lean_that_is_silent_or_accepts_everything_is_refused(self) -> None:
        answer = '{"file_name": "mlrb_question.lean", "severity": "information", "text": "no axioms"}'
        everything = f"import sys\nopen('mlrb_candidate.olean', 'w')\nprint('{answer}')"
        for program, words in (
            (everything, "accepts what is false"),
            ("", "refuses what is true: Lean ended with status 0"),
            ("raise SystemExit(3)", "status 3"),
        ):
            with tempfile.TemporaryDirectory() as folder:
                command = Path(folder, "lean.py")
                command.write_text(program)
                command.chmod(command.stat().st_mode | stat.S_IXUSR)
                with (
                    self.subTest(words),
                    stub(f"{sys.executable} -I -S {command}"),
                    self.assertRaisesRegex(Lean3Missing, words),
                    open_lean3(read_lean3(DATA)),
                ):
                    pass

    def test_a_lean_whose_library_lacks_a_module_of_the_data_is_refused(self) -> None:
        settings = dataclasses.replace(read_lean3(DATA), imports=("missing.module",))
        with (
            stub(),
            self.assertRaisesRegex(Lean3Missing, "missing.module' not found in the LEAN_PATH"),
            open_lean3(settings),
        ):
            pass

    def test_the_checks_of_a_lean_hold_a_true_theorem_and_false_ones(self) -> None:
        self.assertEqual(sorted(CANARIES.values()), [False, False, False, True])

    def test_data_without_settings_for_lean_3_is_no_measure_of_lean_3(self) -> None:
        house = read_math(FIXTURES.parents[1] / "lean-compiles" / "fixtures" / "private")
        with self.assertRaisesRegex(ValueError, "not in Lean 3"):
            read_lean3(house)


if __name__ == "__main__":
    unittest.main()
