"""What one would hand in without merging: the best single expert.

Each expert is tried on the development questions, and the one whose weaker domain is better is handed in.
Nothing in it is broken: an expert that had learnt the other's domain too would do.
"""

from run import Candidate, run


def candidates(experts: list[str]) -> list[Candidate]:
    return [
        Candidate(
            name,
            hypothesis=f"{name} knows enough of the other domain too",
            change="none: the expert as it was given",
            weights={name: 1.0},
        )
        for name in experts
    ]


if __name__ == "__main__":
    run(candidates)
