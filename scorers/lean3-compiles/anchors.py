"""Lets Lean 3 check the reference proofs (the ceiling), the nearest public formal proofs and empty texts."""

from scorer_library.lean3.stages import anchors_by_lean3

if __name__ == "__main__":
    anchors_by_lean3(faithful=False)
