"""Lets Lean 3 check untrusted formal statements and proofs."""
