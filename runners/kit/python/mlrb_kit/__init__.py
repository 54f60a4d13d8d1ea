"""What every Python stage needs: its context, submissions that cannot be trusted, devices, results."""
