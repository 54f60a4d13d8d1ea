"""Whose weights a submission has: comparisons with given and with known models (ADR 43)."""
