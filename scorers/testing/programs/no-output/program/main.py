"""Ends well and writes nothing."""
