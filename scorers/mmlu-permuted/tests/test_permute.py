"""Checks that questions keep their meaning and lose the place of their answer."""

import itertools
import tempfile
import unittest
from collections import Counter
from pathlib import Path
from typing import Any

from permute import permuted, permuted_questions, write_questions
from scorer_library.lm_eval.data import read_hub_data
from scorer_library.lm_eval.letters import DATA

FIXTURES = Path(__file__).parent.parent / "fixtures/private"
CHOICES = ["knee", "elbow", "wrist", "ankle"]


def question(at: int, choices: list[str] = CHOICES, answer: int = 0) -> dict[str, Any]:
    return {"question": f"Question {at}?", "subject": "anatomy", "choices": choices, "answer": answer}


class Permute(unittest.TestCase):
    def test_the_right_answer_keeps_its_text(self) -> None:
        for at, answer in itertools.product(range(50), range(4)):
            found = permuted(question(at, answer=answer))
            self.assertEqual(found["choices"][found["answer"]], CHOICES[answer])
            self.assertEqual(sorted(found["choices"]), sorted(CHOICES))

    def test_the_order_depends_on_the_texts_and_not_on_their_places(self) -> None:
        orders = {
            tuple(permuted(question(1, list(order)))["choices"]) for order in itertools.permutations(CHOICES)
        }
        self.assertEqual(orders, {tuple(permuted(question(1))["choices"])})

    def test_the_order_is_the_same_everywhere(self) -> None:
        self.assertEqual(permuted(question(0))["choices"], PINNED)

    def test_equal_choices_keep_one_right_answer(self) -> None:
        for answer in range(4):
            found = permuted(question(3, ["yes", "no", "yes", "maybe"], answer))
            self.assertEqual(found["choices"][found["answer"]], ["yes", "no", "yes", "maybe"][answer])

    def test_a_memorised_letter_scores_at_chance(self) -> None:
        # all answers are A before; a model that answers A to every question has 1.0 on MMLU
        places = Counter(permuted(question(at))["answer"] for at in range(4000))
        for place in range(4):
            self.assertLess(abs(places[place] / 4000 - 0.25), 0.03)  # over four standard errors

    def test_the_permuted_questions_are_private_data_of_the_same_form(self) -> None:
        before = read_hub_data(FIXTURES, DATA)
        with tempfile.TemporaryDirectory() as folder:
            write_questions(Path(folder), permuted_questions(FIXTURES))
            after = read_hub_data(Path(folder), DATA)
        self.assertEqual(list(after), list(before))
        for subject, rows in before.items():
            self.assertEqual([row["question"] for row in after[subject]], [row["question"] for row in rows])
            self.assertEqual(after[subject], [permuted(row) for row in rows])
        self.assertNotEqual(after, before)


PINNED = ["knee", "ankle", "wrist", "elbow"]

if __name__ == "__main__":
    unittest.main()
