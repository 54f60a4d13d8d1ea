"""The submission's own fault, as opposed to ours."""


class Rejected(Exception):
    """Raised with a reason that a reader of the table understands; becomes a rejected score.

    Anything else that is raised is a fault of ours: the script fails, and the score is not measured.
    """
