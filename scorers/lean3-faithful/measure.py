"""Measures the share of proofs that Lean 3 accepts and that state the reference theorem (see README.md)."""

from scorer_library.lean3.stages import score_by_lean3

if __name__ == "__main__":
    score_by_lean3(faithful=True)
