"""What every Python stage needs: its context, untrusted submissions, devices, results."""
