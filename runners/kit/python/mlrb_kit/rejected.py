"""A failure by the submission's fault, as opposed to ours."""


class Rejected(Exception):
    """Raised with a reason for readers of the table; becomes a rejected score.

    Any other exception is our fault: the script fails, and the score is not measured.
    """
