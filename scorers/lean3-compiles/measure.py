"""Measures the share of generated formal proofs that Lean 3 accepts (see README.md)."""

from scorer_library.lean3.stages import score_by_lean3

if __name__ == "__main__":
    score_by_lean3(faithful=False)
