"""A failure by the submission's fault, as opposed to ours."""


class Rejected(Exception):
    """Raised with a reason for readers of the table; becomes a rejected score.

    Any other exception is the submission's fault too where a known-good model passes (guarded.py). Otherwise
    it is ours: the script fails, and the score is not measured.
    """
