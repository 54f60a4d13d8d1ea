"""Lets a model write formal proofs, for the scorers that judge texts."""
