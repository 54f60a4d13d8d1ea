"""Four-choice questions, scored by the likelihood of the right letter: lm-eval's tasks mmlu_SUBJECT.

Rows have the columns of cais/mmlu.
"""

from mlrb_kit.references_stage import Row as ReferenceRow
from scorer_library.lm_eval.continuation import COLUMNS, question_trouble
from scorer_library.lm_eval.data import HubData, Row
from scorer_library.lm_eval.items import Item, error_of_mean, mean
from scorer_library.lm_eval.mean import mean_over_items
from scorer_library.lm_eval.measure import LmEval
from scorer_library.lm_eval.run import Answer

LETTERS = "ABCD"
DATA = HubData("mmlu", "cais/mmlu", "test", "dev", lambda _: COLUMNS, question_trouble)


def item_of(subject: str, at: int, _row: Row, answer: Answer) -> Item:
    credits = [outcome["acc"] for outcome in answer.outcomes]
    return Item(f"{subject}/{at}", subject, answer.likelihoods, credits, cluster=subject)


BY_LETTER = LmEval(DATA, "mmlu/default", "mmlu_{}".format, item_of, mean_over_items)


def letter_rows(questions: list[Row]) -> list[ReferenceRow]:
    """Scores that need no question: chance, and the best constant letter."""
    answers = [row["answer"] for row in questions]
    letter = max(range(4), key=answers.count)  # the first of equals
    hits = [float(answer == letter) for answer in answers]
    return [
        {"name": "chance", "title": "Chance: one of four answers", "kind": "guess", "value": 0.25},
        {
            "name": "one-letter",
            "title": f"Always {LETTERS[letter]}, the letter that is right most often",
            "kind": "guess",
            "value": mean(hits),
            "standardError": error_of_mean(hits),
        },
    ]
