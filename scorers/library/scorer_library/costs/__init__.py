"""What a submission costs: compute, size, speed, memory."""
