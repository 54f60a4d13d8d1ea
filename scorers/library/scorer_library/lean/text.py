"""Reads a text as one Lean 4 theorem, or returns why it is not one, before Lean sees the text.

Lean alone cannot judge untrusted text: `axiom y : False theorem x : False := y` is valid Lean, and a `macro`
can redefine any word. So a text may contain one `theorem` and no other command. The text is compiled without
its comments, so that nothing can hide in one.
"""

import re
import unicodedata
from dataclasses import dataclass

TEXT_CHARACTERS_MAX = 16_384

# words that begin a command, change the meaning of text, or add code or an unproved claim
FORBIDDEN = frozenset(
    """
    abbrev add_decl_doc admit attribute axiom axioms builtin_initialize by_elab class coinductive
    constant constants declare_command_config_elab declare_config_elab declare_simp_like_tactic
    declare_syntax_cat def definition deriving elab elab_rules elab_stx end example export extern
    grind_pattern implemented_by import include inductive infix infixl infixr init_quot initialize
    instance lemma local macro macro_rules meta module mutual namespace native_decide noncomputable
    notation ofReduceBool ofReduceNat omit opaque open parameter parameters partial postfix precedence
    prefix prelude private protected public reduceBool reduceNat register_builtin_option register_option
    register_simp_attr run_cmd run_elab run_meta run_tac scoped seal section set_option simproc sorry
    sorryAx structure suppress_compilation syntax trustCompiler unif_hint universe universes unsafe
    unseal unsuppress_compilation variable variables
    """.split()  # noqa: SIM905 (a column of a hundred strings)
)
FORBIDDEN_SIGNS = ("#", "@[", "«", "»", "`", "+native")

NAME = r"[A-Za-z_][A-Za-z0-9_']*(?:\.[A-Za-z_][A-Za-z0-9_']*)*"
HEAD = re.compile(rf"\s*theorem\s+({NAME})(?=[\s.:({{\[⦃]|$)")
WORD = re.compile(r"[^\W\d][\w'!?₀-₉]*")
TOKEN = re.compile(r"\d+|[^\W\d][\w'!?₀-₉]*(?:\.[\w'!?₀-₉]+)*|\S")
# words after which `:=` may define a part of a statement, with all that begin with `let` or `have`
BINDING = frozenset(("begin", "by", "calc", "do", "match", "obtain"))
QUOTE = re.compile(r"\"|'[)\]}⟩⦄]'")  # strings, and characters that look like a closing bracket
BRACKETS = {"(": ")", "[": "]", "{": "}", "⟨": "⟩", "⦃": "⦄"}


@dataclass(frozen=True)
class Theorem:
    name: str
    # tokens between the name and `:=`, for comparison; None where this `:=` may be part of the statement
    statement: tuple[str, ...] | None
    text: str  # what is compiled


@dataclass(frozen=True)
class NoTheorem:
    reason: str


def read_theorem(text: str) -> Theorem | NoTheorem:
    """`text` as one theorem, or the reason why it is refused."""
    plain = shown(text)
    if isinstance(plain, NoTheorem):
        return plain
    if sign := next((sign for sign in FORBIDDEN_SIGNS if sign in plain), None):
        return NoTheorem(f"holds {sign!r}")
    words = [word.group() for word in WORD.finditer(plain)]
    if word := next((word for word in words if word in FORBIDDEN), None):
        return NoTheorem(f"holds the word {word!r}")
    if words.count("theorem") != 1:
        return NoTheorem(f"{words.count('theorem')} theorems, not one")
    head = HEAD.match(plain)
    if head is None:
        return NoTheorem("does not begin with `theorem` and a plain name")
    if "_root_" in words:
        return NoTheorem("holds the word '_root_'")
    end = statement_end(plain, head.end())
    if end is None:
        return NoTheorem("no `:=` after a statement")
    statement = plain[head.end() : end]
    if ":" not in statement:
        return NoTheorem("no statement")
    return Theorem(head.group(1), compared(statement), plain)


def shown(text: str) -> str | NoTheorem:
    """`text` without its comments, or the reason why it is refused, whatever it says."""
    if len(text) > TEXT_CHARACTERS_MAX:
        return NoTheorem(f"longer than {TEXT_CHARACTERS_MAX} characters")
    text = text.replace("\r\n", "\n").strip()
    if not text:
        return NoTheorem("empty")
    if hidden := next((character for character in text if not visible(character)), None):
        return NoTheorem(f"an invisible or unassigned character, U+{ord(hidden):04X}")
    plain = without_comments(text)
    if plain is None:
        return NoTheorem("a comment that is not closed, or a comment sign outside a comment")
    return plain


def visible(character: str) -> bool:
    """False for control, format, private and unassigned characters and for spaces other than U+0020."""
    if character in "\n ":
        return True
    return unicodedata.category(character)[0] not in "CZ"


def without_comments(text: str) -> str | None:
    """`text` with a space for each comment; None where comments do not pair up.

    Strings are treated like other text: a string with a comment sign changes, and the changed text is both
    checked and compiled.
    """
    kept, depth, at = [], 0, 0
    while at < len(text):
        sign = text[at : at + 2]
        if sign == "/-":
            depth, at = depth + 1, at + 2
        elif sign == "-/":
            if depth == 0:
                return None
            depth, at = depth - 1, at + 2
            kept.append(" ")
        elif depth:
            at += 1
        elif sign == "--":
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
            kept.append(" ")
        else:
            kept.append(text[at])
            at += 1
    plain = "".join(kept).strip()
    return None if depth or any(sign in plain for sign in ("--", "/-", "-/")) else plain


def statement_end(text: str, start: int) -> int | None:
    """The position of the first `:=` outside brackets (inside, it sets a default)."""
    end = outside_brackets(text[start:]).find(":=")
    return None if end < 0 else start + end


def outside_brackets(text: str) -> str:
    """`text` with a space for each character inside brackets."""
    kept: list[str] = []
    open_brackets: list[str] = []
    for character in text:
        if character in BRACKETS:
            open_brackets.append(BRACKETS[character])
        kept.append(" " if open_brackets else character)
        if open_brackets and character == open_brackets[-1]:
            open_brackets.pop()
    return "".join(kept)


def compared(statement: str) -> tuple[str, ...] | None:
    """Tokens of the text before the first `:=` outside brackets, or None if the statement may go on after it.

    `let m := n + 1 in m > n` would equal any statement that begins with this `let`. A quotation mark may hide
    a bracket. A statement that is cut too late is no danger: it equals only what is equal further.
    """
    words = [word.group() for word in WORD.finditer(outside_brackets(statement))]
    if QUOTE.search(statement) or any(word in BINDING or word.startswith(("let", "have")) for word in words):
        return None
    return normalised(statement)


def normalised(statement: str) -> tuple[str, ...]:
    """Tokens of a statement, with the names of bound variables.

    Line breaks and spacing are ignored, except where they change the meaning: before a dot or a bracket, as
    in `x.1` and `x .1`, `a[i]` and `a [i]`.
    """
    tokens: list[str] = []
    for match in TOKEN.finditer(unicodedata.normalize("NFC", statement)):
        token, before = match.group(), statement[match.start() - 1 : match.start()]
        spaced = token in (".", "[") and before.isspace()
        tokens.append(f" {token}" if spaced else token)
    return tuple(tokens)
