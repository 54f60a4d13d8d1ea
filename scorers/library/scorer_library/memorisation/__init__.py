"""Bits of private documents and of public ones that match them (ADR 48)."""
