"""Submitted programs: how they are run, and what is read of their output (ADR 63)."""
