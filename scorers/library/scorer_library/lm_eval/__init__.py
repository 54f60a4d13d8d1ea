"""Runs tasks of lm-eval on private data, and the means over their items."""
