"""Reads a text as one Lean 3 theorem, or returns why it is not one, before Lean sees the text.

A text may begin with lines that import modules and open namespaces. Then it holds one `theorem` or `lemma`
and no other command. Lean 3 runs code while it checks a text: a step of a tactic block may be any term of
type `tactic`, and such a term can start programs, write files and change the environment. So the names that
lead to this code are refused as any part of a name, with quotations, antiquotations and `do`. The text is
compiled without its comments, so that nothing can hide in one.
"""

import re
from dataclasses import dataclass

from scorer_library.lean.text import NoTheorem, shown, statement_end

# words that begin a command of Lean 3.51 or mathlib 3, or leave a claim unproved; all but `slim_check`,
# `polyrith` (it starts a program) and `admit` are reserved, so no honest text has one as a name
COMMANDS = frozenset(
    """
    abbreviation add_decl_doc add_hint_tactic add_key_equivalence add_tactic_doc admit alias
    assert_exists assert_instance assert_no_instance assert_not_exists attribute axiom axioms class
    coinductive constant constants copy_doc_string declare_trace def def_replacer definition example
    export hide import import_private include inductive infix infixl infixr init_quotient
    initialize_simps_projections instance library_note list_unused_decls local localized meta
    mk_iff_of_inductive_prop mk_simp_attribute mutual namespace noncomputable notation omit open
    open_locale open_notation parameter parameters polyrith postfix precedence prefix prelude
    private protected reassoc_axiom reserve restate_axiom run_cmd run_parser section set_option
    setup_tactic_parser slim_check sorry structure universe universes using_well_founded variable
    variables
    """.split()  # noqa: SIM905 (a column of words)
)
# parts of names that lead to code which runs while Lean checks the text
CODE = frozenset(
    """
    add_decl admit_all declaration do environment eval_expr exec_cmd expr has_reflect
    interaction_monad interactive io itactic lean mk_sorry monad_io native parser pexpr reflected
    run_async set_env set_env_core smt_state smt_tactic tactic tactic_state trace_error unchecked_cast
    undefined undefined_core unsafe unsafe_run_io updateex_env user_attribute vm vm_core vm_monad
    """.split()  # noqa: SIM905
)
# commands and cardinals, quotations, antiquotations, attributes, names of any characters, holes
SIGNS = ("#", "`", "%%", "@[", "«", "»", "{!", "!}")

NAME = r"[A-Za-z_][A-Za-z0-9_']*(?:\.[A-Za-z_][A-Za-z0-9_']*)*"
HEAD = re.compile(rf"(?:theorem|lemma)\s+({NAME})(?=[\s.:({{\[⦃]|$)")
PREAMBLE = re.compile(rf"\s*(import|open|open_locale)((?:[ ]+{NAME})+)[ ]*(?:\n|$)")
WORD = re.compile(r"[^\W\d][\w'!?₀-₉]*")
BLOCKS = frozenset(("begin", "match"))  # each ends with `end`, which alone would be a command


@dataclass(frozen=True)
class Theorem:
    name: str
    imports: tuple[str, ...]
    opened: tuple[str, ...]  # lines between the imports and the theorem
    text: str  # what is compiled after the imports and `opened`


def read_theorem(text: str) -> Theorem | NoTheorem:
    """`text` as one theorem, or the reason why it is refused."""
    plain = shown(text.replace("\t", " "))
    if isinstance(plain, NoTheorem):
        return plain
    imports, opened, body = split_preamble(plain)
    parts = [part for line in opened for part in re.split(r"[. ]", line)]
    if reason := refused(body) or forbidden(parts, CODE):
        return NoTheorem(reason)
    head = HEAD.match(body)
    if head is None:
        return NoTheorem("does not begin with `theorem` and a plain name")
    end = statement_end(body, head.end())
    if end is None:
        return NoTheorem("no `:=` after a statement")
    if ":" not in body[head.end() : end]:
        return NoTheorem("no statement")
    return Theorem(head.group(1), imports, opened, body)


def split_preamble(text: str) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """Modules that are imported, lines that open namespaces, and the rest of the text."""
    imports, opened, at = list[str](), list[str](), 0
    while line := PREAMBLE.match(text, at):
        word, names = line.group(1), line.group(2).split()
        if word == "import" and opened:
            break  # Lean accepts imports only at the beginning
        if word == "import":
            imports += names
        else:
            opened.append(f"{word} {' '.join(names)}")
        at = line.end()
    return tuple(imports), tuple(opened), text[at:].strip()


def refused(body: str) -> str | None:
    """Why the text after the preamble is more than one theorem, or None."""
    words = [word.group() for word in WORD.finditer(body)]
    if reason := forbidden(words, COMMANDS | CODE | {"_root_"}):
        return reason
    if sign := next((sign for sign in SIGNS if sign in body), None):
        return f"holds {sign!r}"
    theorems = sum(word in ("theorem", "lemma") for word in words)
    if theorems != 1:
        return f"{theorems} theorems, not one"
    depth = 0
    for word in words:
        depth += (word in BLOCKS) - (word == "end")
        if depth < 0:
            break
    return "an `end` without `begin` or `match`, or one of these without `end`" if depth else None


def forbidden(words: list[str], refuse: frozenset[str]) -> str | None:
    word = next((word for word in words if word in refuse), None)
    return None if word is None else f"holds the word {word!r}"
