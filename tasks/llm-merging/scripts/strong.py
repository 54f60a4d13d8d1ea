"""What a researcher would hand in: one model with the knowledge of all experts, mixed from their weights.

Two ways are tried on the development questions: the plain average (Wortsman et al., "Model soups", 2022,
arXiv:2203.05482), and task arithmetic, the base model with what every expert learnt added to it in full
(Ilharco et al., "Editing Models with Task Arithmetic", 2023, arXiv:2212.04089). Of equals, the average.
"""

from run import Candidate, run


def candidates(experts: list[str]) -> list[Candidate]:
    count = len(experts)
    return [
        Candidate(
            "average",
            hypothesis="what each expert learnt survives at half its strength, in the mean of their weights",
            change="every tensor is the mean of the experts'",
            weights=dict.fromkeys(experts, 1 / count),
        ),
        Candidate(
            "sum",
            hypothesis="added to the base model in full, what the experts learnt is stronger than averaged",
            change="every tensor is the base model's with each expert's difference from it added",
            weights={**dict.fromkeys(experts, 1.0), "base": 1.0 - count},
        ),
    ]


if __name__ == "__main__":
    run(candidates)
