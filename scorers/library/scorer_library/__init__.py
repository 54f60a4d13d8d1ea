"""Shared code of scorers. Stages, submissions and devices are in mlrb_kit."""
