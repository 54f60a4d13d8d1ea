"""Lets Lean check texts, and accepts only positive evidence.

One process compiles a text to a module. A second process, which never reads the text, imports the module and
runs `#print axioms`. The proof holds if Lean reports for that name no axioms or only Lean's three standard
ones. The absence of errors proves nothing. Nor does `#print axioms` in the text's own file: Lean 4.35 answers
"does not depend on any axioms" there for a theorem whose proof failed.
"""

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scorer_library.generation.items import LeanSettings
from scorer_library.generation.verdicts import Verdict
from scorer_library.lean.command import LeanCommand, LeanMissing, find_lean
from scorer_library.lean.run import LeanLimits, LeanRun, run_lean
from scorer_library.lean.text import NoTheorem, Theorem, read_theorem

STANDARD_AXIOMS = frozenset({"propext", "Classical.choice", "Quot.sound"})
MODULE = "MlrbCandidate"
EVIDENCE = re.compile(r"'([^'\s][^\s]*)' (?:does not depend on any axioms|depends on axioms: \[(.*)\])", re.S)
WORDS_MAX = 200

# a trustworthy Lean accepts the first and refuses the others; none needs a library
CANARIES = {
    "theorem mlrb_canary (p : Prop) (h : p) : p := h": True,
    "theorem mlrb_canary (p q : Prop) (h : p) : q := h": False,
    "axiom mlrb_cheat (q : Prop) : q theorem mlrb_canary (p q : Prop) (h : p) : q := mlrb_cheat q": False,
}


@dataclass
class Lean:
    command: LeanCommand
    settings: LeanSettings
    folder: Path
    known: dict[str, Verdict]  # by text; equal texts are checked once

    @property
    def limits(self) -> LeanLimits:
        given = self.settings
        return LeanLimits(given.heartbeats, given.seconds, given.memory_bytes)

    def judge(self, text: str) -> Verdict:
        """Whether `text` is one theorem that Lean accepts. No text makes it raise."""
        theorem = read_theorem(text)
        if isinstance(theorem, NoTheorem):
            return Verdict(False, f"not one theorem: {theorem.reason}")
        if theorem.text not in self.known:
            self.known[theorem.text] = self.prove(theorem)
        return self.known[theorem.text]

    def prove(self, theorem: Theorem) -> Verdict:
        with self.scratch() as folder:
            module = folder / f"{MODULE}.olean"
            first = self.run(
                folder, "Candidate", self.header() + self.settings.preamble + theorem.text, module
            )
            if not first.clean or not module.is_file():
                return Verdict(False, trouble(first))
            question = f"{self.header(MODULE)}#print axioms {theorem.name}\n"
            second = self.run(folder, "Question", question, None)
            return judged(second, theorem.name)

    def run(self, folder: Path, name: str, text: str, module: Path | None) -> LeanRun:
        file = folder / f"{name}.lean"
        file.write_text(text, encoding="utf-8")
        return run_lean(self.command, file, module=module, search=folder, limits=self.limits)

    def header(self, *more: str) -> str:
        lines = ["prelude"] if self.settings.prelude else []
        lines += [f"import {name}" for name in (*self.settings.imports, *more)]
        return "".join(f"{line}\n" for line in lines)

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A folder for one text, with the data's modules and no files of other texts."""
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            for module in self.settings.modules:
                compiled = f"{module}.olean"
                (Path(name) / compiled).symlink_to(self.folder / compiled)
            yield Path(name)


@contextmanager
def open_lean(settings: LeanSettings) -> Iterator[Lean]:
    """A Lean that accepted a true theorem and refused false ones. Raises LeanMissing otherwise."""
    command = find_lean()
    with tempfile.TemporaryDirectory(prefix="mlrb-lean-") as name:
        lean = Lean(command, settings, Path(name), {})
        for module in settings.modules:
            shutil.copyfile(settings.folder / f"{module}.lean", lean.folder / f"{module}.lean")
            compiled = lean.folder / f"{module}.olean"
            ran = run_lean(
                command,
                lean.folder / f"{module}.lean",
                module=compiled,
                search=lean.folder,
                limits=lean.limits,
            )
            if not ran.clean or not compiled.is_file():
                raise LeanMissing(f"Lean does not compile the data's own {module}.lean: {trouble(ran)}")
        if wrong := mistake(CANARIES, lambda text: lean.prove(Theorem("mlrb_canary", (), text))):
            raise LeanMissing(f"this Lean {wrong}")
        yield lean


def mistake(canaries: dict[str, bool], prove: Callable[[str], Verdict]) -> str | None:
    """Why a Lean cannot be used, or None. `canaries`: texts, and whether each is true."""
    for text, expected in canaries.items():
        verdict = prove(text)
        if verdict.compiles != expected:
            said = "accepts what is false" if verdict.compiles else f"refuses what is true: {verdict.reason}"
            return f"cannot be used; it {said}: {text}"
    return None


def judged(ran: LeanRun, name: str) -> Verdict:
    if not ran.clean:
        return Verdict(False, trouble(ran))
    found = [EVIDENCE.fullmatch(str(message.get("data", "")).strip()) for message in ran.messages]
    answers = [match for match in found if match and match.group(1) == name]
    if len(answers) != 1:
        return Verdict(False, "Lean does not report the theorem's axioms")
    axioms = {axiom.strip() for axiom in (answers[0].group(2) or "").split(",") if axiom.strip()}
    if extra := sorted(axioms - STANDARD_AXIOMS):
        return Verdict(False, f"rests on {', '.join(extra)[:WORDS_MAX]}")
    return Verdict(True, "")


def trouble(ran: LeanRun) -> str:
    """Lean's first error on one line, without parts that differ between runs."""
    match ran.ended:
        case "time":
            return "over the time limit"
        case "memory":
            return "over the memory limit"
        case "crash":
            return f"Lean ended by signal {-ran.status}"
    errors = [str(message.get("data", "")) for message in ran.messages if message.get("severity") == "error"]
    words = " ".join((errors[0] if errors else ran.output).split())
    return words[:WORDS_MAX] or f"Lean ended with status {ran.status}"
