"""Checks that only confirmed proofs count. Needs a Lean (see lean/command.py)."""

import dataclasses
import json
import os
import resource
import shutil
import stat
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from mlrb_kit.results import read_jsonl
from scorer_library.generation.items import read_math
from scorer_library.lean.check import Lean, open_lean
from scorer_library.lean.command import LeanMissing, find_lean
from scorer_library.lean.score import lean_score, says_the_same
from scorer_library.lean.text import Theorem, read_theorem
from scorer_library.lean.together import judge_all

FIXTURES = Path(__file__).parents[1] / "fixtures"
DATA = read_math(FIXTURES / "private")

# 2^25 steps of computation at a depth of 25, which Lean's own heartbeats do not stop
ENDLESS = (
    "theorem x : Nat.rec (motive := fun _ => Prop → Prop) (fun p => p) (fun _ f p => f (f p)) "
    f"{'(Nat.succ ' * 25}Nat.zero{')' * 25} True := True.intro"
)


class Hostile(unittest.TestCase):
    def test_no_hostile_text_counts(self) -> None:
        rows = read_jsonl(FIXTURES / "hostile.jsonl")
        self.assertGreater(len(rows), 60)
        with open_lean(DATA.lean) as lean:
            for row in rows:
                with self.subTest(row["id"]):
                    verdict = lean.judge(row["text"])
                    self.assertFalse(verdict.compiles)
                    self.assertIn(row["reason"], verdict.reason)
                    self.assertNotIn(str(lean.folder), verdict.reason)

    def test_texts_that_are_proven_together_are_judged_as_each_alone(self) -> None:
        honest = [item.formal_proof for item in DATA.items]
        mixed = [
            "theorem both (p : Prop) (h : p) : p := h",
            "theorem _root_.helper : True := True.intro",
            "theorem user : True := helper",
            "theorem user2 : True := both True True.intro",
            "theorem And.left2 (p : Prop) (h : p) : p := h",
            "theorem open_end : True := (True.intro",
            "theorem MlrbSpace1.x : True := True.intro",
            ENDLESS.replace("theorem x", "theorem slow"),
        ]
        hostile = [row["text"] for row in read_jsonl(FIXTURES / "hostile.jsonl")][::3]
        texts = [*honest, *mixed, *hostile]
        with open_lean(DATA.lean) as lean:
            lean.settings = dataclasses.replace(DATA.lean, seconds=2.0)
            together = judge_all(lean, texts)
            lean.known.clear()
            alone = [lean.judge(text) for text in texts]
        self.assertEqual(together, alone)
        self.assertTrue(all(verdict.compiles for verdict in together[: len(honest)]))
        users = together[len(honest) + 2 : len(honest) + 4]
        self.assertFalse(any(verdict.compiles for verdict in users), "proven with the theorem of another")

    def test_work_without_end_is_stopped_by_the_clock_or_by_the_memory_it_takes(self) -> None:
        for change, reason in (({"seconds": 1.0}, "time"), ({"memory_bytes": 300 * 2**20}, "memory")):
            with open_lean(DATA.lean) as lean:
                lean.settings = dataclasses.replace(DATA.lean, **change)
                verdict = lean.judge(ENDLESS)
            self.assertEqual((verdict.compiles, verdict.reason), (False, f"over the {reason} limit"))

    def test_a_text_that_failed_leaves_nothing_behind_for_the_next(self) -> None:
        with open_lean(DATA.lean) as lean:
            before = sorted(path.name for path in lean.folder.iterdir())
            self.assertTrue(lean.judge("theorem x : True := True.intro").compiles)
            self.assertFalse(lean.judge("theorem y : False := x").compiles)
            self.assertTrue(lean.judge("theorem x (p : Prop) (h : p) : p := h").compiles)
            self.assertEqual(sorted(path.name for path in lean.folder.iterdir()), before)


class Honest(unittest.TestCase):
    def test_reference_proofs_compile_and_are_faithful(self) -> None:
        texts = [item.formal_proof for item in DATA.items]
        self.assertEqual(lean_score(DATA, texts, faithful=True)[0]["value"], 1.0)

    def test_a_limit_of_the_scorers_own_memory_is_none_of_leans(self) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (2**29, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_DATA, (soft, hard))
        with open_lean(DATA.lean) as lean:
            self.assertTrue(lean.judge(DATA.items[0].formal_proof).compiles)

    def test_a_proof_of_something_else_compiles_and_is_not_faithful(self) -> None:
        texts = ["theorem x : True := True.intro" for _ in DATA.items]
        score, samples = lean_score(DATA, texts, faithful=True)
        self.assertEqual((score["value"], score["extra"]["sameStatement"]), (0.0, 0.0))
        self.assertEqual({sample["reason"] for sample in samples}, {"another statement"})
        self.assertNotIn("compiles", samples[0])  # Lean did not check it
        compiled, _ = lean_score(DATA, texts, faithful=False)
        self.assertEqual((compiled["value"], compiled["extra"]["compiles"]), (1.0, 1.0))

    def test_verdicts_stay_with_their_texts_where_lean_checks_some(self) -> None:
        texts = [item.formal_proof for item in DATA.items]
        texts[0] = "theorem x : True := True.intro"
        texts[2] = ""
        score, samples = lean_score(DATA, texts, faithful=True)
        self.assertEqual([sample["value"] for sample in samples], [0.0, 1.0, 0.0, 1.0, 1.0, 1.0])
        self.assertEqual(score["value"], 4 / 6)

    def test_the_same_statement_with_a_proof_that_fails_is_not_faithful(self) -> None:
        text = "theorem one_plus_one : Eq (plus one one) two := Eq.rec"
        score, samples = lean_score(DATA, [text, *[""] * 5], faithful=True)
        self.assertEqual(score["value"], 0.0)
        self.assertTrue(samples[0]["sameStatement"])


class Statements(unittest.TestCase):
    reference = "theorem a (n : Nat) : Eq (plus n Nat.zero) n := Eq.refl"

    def test_spacing_comments_and_the_name_do_not_count(self) -> None:
        for text in (
            "theorem other (n : Nat) : Eq (plus n Nat.zero) n := Eq.refl",
            "theorem a ( n:Nat ) :\n  Eq (plus  n Nat.zero) n := something else",
            "/- why -/ theorem a (n : Nat) -- here\n : Eq (plus n Nat.zero) n:=Eq.refl",
        ):
            self.assertTrue(says_the_same(text, self.reference), text)

    def test_anything_else_counts(self) -> None:
        for text in (
            "theorem a (m : Nat) : Eq (plus m Nat.zero) m := Eq.refl",
            "theorem a (n : Nat) : Eq n (plus n Nat.zero) := Eq.refl",
            "theorem a (n : Nat) (h : False) : Eq (plus n Nat.zero) n := Eq.refl",
            "theorem a (n : Nat) : Eq (plus n Natzero) n := Eq.refl",
            "theorem a {n : Nat} : Eq (plus n Nat.zero) n := Eq.refl",
            "theorem a (n : Nat) : Eq (plus n Nat .zero) n := Eq.refl",
            "theorem a.{u} (n : Nat) : Eq (plus n Nat.zero) n := Eq.refl",
            "theorem a : True := True.intro",
            "",
        ):
            self.assertFalse(says_the_same(text, self.reference), text)

    def test_a_default_in_a_binder_is_no_end_of_the_statement(self) -> None:
        found = read_theorem("theorem a (h : True := True.intro) : True := h")
        assert isinstance(found, Theorem)
        self.assertEqual(" ".join(found.statement), "( h : True : = True.intro ) : True")

    def test_a_statement_that_its_first_definition_does_not_end_equals_none(self) -> None:
        text = "theorem a (n : Nat) : let m := n; Eq m (plus n one) := Eq.refl"
        self.assertFalse(says_the_same(text.replace("Eq m (plus n one)", "True"), text))
        self.assertFalse(says_the_same(text, text))


class Commands(unittest.TestCase):
    def test_without_lean_nothing_is_measured(self) -> None:
        with (
            mock.patch("importlib.util.find_spec", return_value=None),
            self.assertRaisesRegex(LeanMissing, r"scorer\.yaml"),
        ):
            find_lean()

    def test_a_lean_that_accepts_everything_is_refused(self) -> None:
        says = {"severity": "information", "data": "'mlrb_canary' does not depend on any axioms"}
        touch = 'while [ $# -gt 0 ]; do [ "$1" = -o ] && : > "$2"; shift; done'
        script = f'{touch}\nprintf "%s\\n" "$(cat <<\'END\'\n{json.dumps(says)}\nEND\n)"'
        self.refused(script, "accepts what is false")

    def test_a_lean_that_is_silent_is_refused(self) -> None:
        self.refused("exit 0", "does not compile the data's own")
        self.refused("exit 3", "status 3")

    def test_a_missing_command_fails_the_script(self) -> None:
        with (
            mock.patch.dict(os.environ, {"MLRB_SCORER_COMMAND": "/nowhere/lean"}),
            self.assertRaises(LeanMissing),
        ):
            self.opened()

    def test_elan_in_place_of_lean_is_refused_with_the_way_to_a_real_path(self) -> None:
        for install in (os.link, os.symlink, shutil.copyfile):
            with tempfile.TemporaryDirectory() as folder:
                elan, command = Path(folder, "elan"), Path(folder, "lean")
                elan.write_text("#!/bin/sh\n")
                install(elan, command)
                with (
                    mock.patch.dict(os.environ, {"MLRB_SCORER_COMMAND": str(command)}),
                    self.assertRaisesRegex(LeanMissing, "elan which lean"),
                ):
                    self.opened()

    def refused(self, script: str, words: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            command = Path(folder, "lean")
            command.write_text(f"#!/bin/sh\n{script}\n")
            command.chmod(command.stat().st_mode | stat.S_IXUSR)
            with (
                mock.patch.dict(os.environ, {"MLRB_SCORER_COMMAND": str(command)}),
                self.assertRaisesRegex(LeanMissing, words),
            ):
                self.opened()

    def opened(self) -> Callable[[], Lean]:
        with open_lean(DATA.lean) as lean:
            return lambda: lean


if __name__ == "__main__":
    unittest.main()
