"""Runs tasks of lm-eval on private data and computes means over their items."""
