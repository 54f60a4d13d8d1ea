"""The costs of a submission: compute, size, speed, memory."""
