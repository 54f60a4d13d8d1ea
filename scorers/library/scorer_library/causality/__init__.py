"""Whether a submission's predictions use the text that they predict (ADR 39)."""
