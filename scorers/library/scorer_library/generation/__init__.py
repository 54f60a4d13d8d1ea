"""Lets a model write formal proofs, and hands what it wrote to the scorers that judge texts."""
