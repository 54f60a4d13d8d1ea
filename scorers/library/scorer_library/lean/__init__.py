"""Lets Lean 4 check untrusted formal statements and proofs."""
