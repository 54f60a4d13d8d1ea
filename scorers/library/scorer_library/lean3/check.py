"""Lets Lean 3 check texts, and accepts only positive evidence, like lean/check.py for Lean 4.

One process compiles a text to a module. A second process imports the module and runs `#print axioms`. The
proof holds if Lean names no axioms, or only Lean 3's three. Its answer counts only if it is about the file
of the question: if Lean compiles the text again, the text's own messages carry another file name.
"""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from scorer_library.generation.verdicts import Verdict
from scorer_library.lean.check import WORDS_MAX, mistake, trouble
from scorer_library.lean.run import LeanLimits, LeanRun, run_limited
from scorer_library.lean3.command import Lean3Command, Lean3Missing, find_lean3
from scorer_library.lean3.settings import Lean3Settings
from scorer_library.lean3.text import NoTheorem, Theorem, read_theorem

STANDARD_AXIOMS = frozenset({"propext", "classical.choice", "quot.sound"})
NO_AXIOMS = ["no axioms"]
MODULE = "mlrb_candidate"
QUESTION = "mlrb_question"
OVER_ALL_TIME = "over the time limit of all texts"

# a trustworthy Lean accepts the first and refuses the others
CANARIES = {
    "theorem mlrb_canary (p : Prop) (h : p) : p := h": True,
    "theorem mlrb_canary (p q : Prop) (h : p) : q := h": False,
    "theorem mlrb_canary (p q : Prop) (h : p) : q := sorry": False,
    "axiom mlrb_cheat (q : Prop) : q\ntheorem mlrb_canary (p q : Prop) (h : p) : q := mlrb_cheat q": False,
}


@dataclass
class Lean3:
    command: Lean3Command
    settings: Lean3Settings
    folder: Path
    known: dict[str, Verdict]  # by text; equal texts are checked once
    deadline: float = field(init=False)  # of time.monotonic(), after which no further text is checked

    def __post_init__(self) -> None:
        self.deadline = time.monotonic() + self.settings.seconds_all

    def judge(self, text: str) -> Verdict:
        """Whether `text` is one theorem that Lean accepts. No text makes it raise."""
        theorem = read_theorem(text)
        if isinstance(theorem, NoTheorem):
            return Verdict(False, f"not one theorem: {theorem.reason}")
        source = self.source(theorem)
        if source not in self.known:
            if time.monotonic() > self.deadline:
                return Verdict(False, OVER_ALL_TIME)
            self.known[source] = self.prove(source, theorem.name)
        return self.known[source]

    def source(self, theorem: Theorem) -> str:
        modules = dict.fromkeys((*self.settings.imports, *theorem.imports))
        lines = [*(f"import {module}" for module in modules), *theorem.opened, theorem.text]
        return "\n".join(lines) + "\n"

    def prove(self, source: str, name: str) -> Verdict:
        with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
            module = Path(scratch, f"{MODULE}.olean")
            first = self.run(Path(scratch), MODULE, source, make=True)
            if not first.clean or not module.is_file():
                return Verdict(False, trouble(first))
            question = f"import {MODULE}\n#print axioms {name}\n"
            second = self.run(Path(scratch), QUESTION, question, make=False)
            return judged(second)

    def run(self, scratch: Path, name: str, text: str, *, make: bool) -> LeanRun:
        file = scratch / f"{name}.lean"
        file.write_text(text, encoding="utf-8")
        given = self.settings
        limits = LeanLimits(given.heartbeats, given.seconds, given.memory_bytes)
        flags = ["--json", "-j1", f"-T{limits.heartbeats}", f"-M{limits.memory_bytes // 2**20}"]
        words = [*self.command.start(limits.rules()), *flags, *(["--make"] if make else []), str(file)]
        env = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": str(scratch),
            "LEAN_PATH": os.pathsep.join([*self.command.library(), str(scratch)]),
        }
        ran = run_limited(words, file, env, limits)
        # as Lean 4 names it
        named = tuple({**message, "data": message.get("text", "")} for message in ran.messages)
        return replace(ran, messages=named)


@contextmanager
def open_lean3(settings: Lean3Settings) -> Iterator[Lean3]:
    """A Lean 3 that accepted a true theorem and refused false ones. Raises Lean3Missing otherwise."""
    command = find_lean3()
    with tempfile.TemporaryDirectory(prefix="mlrb-lean3-") as name:
        lean = Lean3(command, settings, Path(name).resolve(), {})

        def prove(text: str) -> Verdict:
            return lean.prove(lean.source(Theorem("mlrb_canary", (), (), text)), "mlrb_canary")

        if wrong := mistake(CANARIES, prove):
            raise Lean3Missing(f"this Lean 3 {wrong}")
        yield lean


def judged(ran: LeanRun) -> Verdict:
    if not ran.clean:
        return Verdict(False, trouble(ran))
    own = [message for message in ran.messages if Path(str(message.get("file_name"))).stem == QUESTION]
    answers = [str(message["data"]) for message in own if message.get("severity") == "information"]
    if len(answers) != 1 or not (lines := answers[0].split("\n")):
        return Verdict(False, "Lean does not report the theorem's axioms")
    axioms = [line.strip() for line in lines if line.strip()]
    if axioms == NO_AXIOMS or (axioms and set(axioms) <= STANDARD_AXIOMS):
        return Verdict(True, "")
    return Verdict(False, f"rests on {', '.join(sorted(set(axioms) - STANDARD_AXIOMS))[:WORDS_MAX]}")
