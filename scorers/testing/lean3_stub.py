"""A stand-in for Lean 3 in tests: its command line, its messages and a few proofs, no kernel.

Called as `lean --json -j1 -T… -M… [--make] FILE`, with LEAN_PATH. It accepts `trivial` for `true`, `rfl` for
equal sums, a hypothesis for its own claim, `sorry` with a warning, and an axiom of the file. `loop` and
`grow` take time and memory.
"""

import json
import os
import re
import sys
import time
from pathlib import Path

THEOREM = re.compile(r"(?:theorem|lemma)\s+(\S+)((?:\s*\([^()]*\))*)\s*:\s*(.*?)\s*:=\s*(.*)", re.S)
AXIOM = re.compile(r"axiom\s+(\S+)[^\n]*")
SUM = re.compile(r"[\d\s+*()]+")


def main() -> int:
    words = sys.argv[1:]
    if "--version" in words:
        print("Lean (version 3.51.1, commit 000000000000, Release)")
        return 0
    file = Path(words[-1])
    lines = file.read_text(encoding="utf-8").split("\n")
    found: dict[str, list[str]] = {}
    for line in lines:
        for module in line.split()[1:] if line.startswith("import ") else []:
            if module.startswith("missing"):
                return say(file, "error", f"file '{module}' not found in the LEAN_PATH")
            found |= imported(module)
    body = "\n".join(line for line in lines if not re.match(r"(import|open|open_locale) ", line))
    if asked := re.search(r"#print axioms (\S+)", body):
        if asked.group(1) not in found:
            return say(file, "error", f"unknown identifier '{asked.group(1)}'")
        return say(file, "information", "".join(f"{line}\n" for line in found[asked.group(1)]))
    return check(file, body, make="--make" in words)


def check(file: Path, body: str, *, make: bool) -> int:
    axioms = [axiom.group(1) for axiom in AXIOM.finditer(body)]
    theorem = THEOREM.search(AXIOM.sub("", body))
    if theorem is None:
        return say(file, "error", "command expected")
    name, binders, claim, proof = theorem.groups()
    proof = re.sub(r"^(?:begin|by)\s+|\s*,?\s*end$|^\s*exact\s+", "", proof.strip()).strip()
    proof = re.sub(r"^exact\s+", "", proof)
    rests = rests_on(claim, proof, binders, axioms)
    if rests is None:
        return say(file, "error", f"type mismatch, term {proof} has no type {claim}")
    if "[sorry]" in rests:
        say(file, "warning", f"declaration '{name}' uses sorry")
    if make:
        file.with_suffix(".olean").write_text(json.dumps({name: rests}))
    return 0


def rests_on(claim: str, proof: str, binders: str, axioms: list[str]) -> list[str] | None:
    """What `#print axioms` prints of the theorem; None where the proof does not hold."""
    if proof == "loop":
        time.sleep(1000)
    if proof == "grow":
        kept = b"x" * 600_000_000
        time.sleep(1000)
        return [str(len(kept))]
    if proof == "sorry":
        return ["[sorry]", "no axioms"]
    if proof.split()[0:1] and proof.split()[0] in axioms:
        return [proof.split()[0]]
    if proof == "classical.em p":
        return ["propext", "quot.sound", "classical.choice"]
    sides = claim.split("=")
    holds = (
        (proof == "trivial" and claim == "true")
        or f"({proof} : {claim})" in binders
        or (proof == "rfl" and len(sides) == 2 and equal(*sides))
    )
    return ["no axioms"] if holds else None


def equal(one: str, other: str) -> bool:
    sums = all(SUM.fullmatch(side) for side in (one, other))
    return sums and eval(one) == eval(other)  # digits, signs and brackets only


def imported(module: str) -> dict[str, list[str]]:
    for folder in os.environ.get("LEAN_PATH", "").split(os.pathsep):
        file = Path(folder, f"{module}.olean")
        if folder and file.is_file():
            return json.loads(file.read_text())
    return {}


def say(file: Path, severity: str, text: str) -> int:
    place = {"file_name": str(file), "pos_line": 1, "pos_col": 0}
    print(json.dumps({**place, "severity": severity, "caption": "", "text": text}), flush=True)
    return int(severity == "error")


if __name__ == "__main__":
    raise SystemExit(main())
