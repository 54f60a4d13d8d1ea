"""Checks many theorems with a few processes; each alone would take two.

Texts share a file, each in its own namespace. A text is accepted if the file compiles without errors and a
second process, which never sees the text, confirms the theorem. All other texts are judged alone, so batching
can only save work. Texts that mean something else inside a namespace, or that other texts could use, are
excluded: texts that name a namespace or the root, and theorems whose name the imports define.
"""

from collections.abc import Iterator

from scorer_library.generation.verdicts import Verdict
from scorer_library.lean.check import MODULE, Lean, judged
from scorer_library.lean.run import LeanRun
from scorer_library.lean.text import NoTheorem, Theorem, read_theorem

SPACE = "MlrbSpace"
WORDS = (SPACE, "_root_")
AT_ONCE = 60  # 600 small theorems took a gigabyte


def judge_all(lean: Lean, texts: list[str]) -> list[Verdict]:
    read = [read_theorem(text) for text in texts]
    new = {theorem.text: theorem for theorem in read if not isinstance(theorem, NoTheorem)}
    for some in parts(list(new.values())):
        for theorem in accepted(lean, [one for one in some if not any(word in one.text for word in WORDS)]):
            lean.known[theorem.text] = Verdict(True, "")
    return [lean.judge(text) for text in texts]


def accepted(lean: Lean, theorems: list[Theorem]) -> list[Theorem]:
    """The theorems that are confirmed. The others may still hold."""
    left = free_names(lean, theorems)
    while left:
        with lean.scratch() as folder:
            module = folder / f"{MODULE}.olean"
            source, owners = together(lean.header() + lean.settings.preamble, left)
            first = lean.run(folder, "Candidate", source, module)
            if first.clean and module.is_file():
                names = [f"{SPACE}{at}.{theorem.name}" for at, theorem in enumerate(left)]
                asked = "".join(f"#print axioms {name}\n" for name in names)
                second = lean.run(folder, "Question", lean.header(MODULE) + asked, None)
                return [
                    theorem
                    for theorem, name in zip(left, names, strict=True)
                    if judged(second, name).compiles
                ]
        blamed = {owners.get(line) for line in error_lines(first)} - {None}
        if first.ended != "exit" or not blamed:
            return []
        left = [theorem for at, theorem in enumerate(left) if at not in blamed]
    return []


def together(header: str, theorems: list[Theorem]) -> tuple[str, dict[int, int]]:
    """One file, and the index of the theorem of each of its lines (from 1)."""
    source, owners = header.rstrip("\n") + "\n", dict[int, int]()
    for at, theorem in enumerate(theorems):
        block = f"namespace {SPACE}{at}\n{theorem.text}\nend {SPACE}{at}\n"
        start = source.count("\n") + 1
        owners.update(dict.fromkeys(range(start, start + block.count("\n")), at))
        source += block
    return source, owners


def free_names(lean: Lean, theorems: list[Theorem]) -> list[Theorem]:
    """The theorems whose name the imports do not define: Lean must report each name as unknown."""
    names = sorted({theorem.name for theorem in theorems})
    header = lean.header()
    with lean.scratch() as folder:
        asked = "".join(f"#print axioms {name}\n" for name in names)
        ran = lean.run(folder, "Names", header + asked, None)
    first = header.count("\n") + 1
    unknown = {line - first for line in error_lines(ran)} if ran.ended == "exit" else set()
    free = {name for at, name in enumerate(names) if at in unknown}
    return [theorem for theorem in theorems if theorem.name in free]


def error_lines(ran: LeanRun) -> list[int]:
    errors = [message for message in ran.messages if message.get("severity") == "error"]
    return [position["line"] for message in errors if isinstance(position := message.get("pos"), dict)]


def parts(theorems: list[Theorem]) -> Iterator[list[Theorem]]:
    for start in range(0, len(theorems), AT_ONCE):
        yield theorems[start : start + AT_ONCE]
