"""What Python scripts of scorers share: loading submissions that cannot be trusted, and writing results."""
