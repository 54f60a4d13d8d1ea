"""Has Lean 4 check formal statements and proofs that nobody vouches for."""
