"""Checks the SuperGLUE mean against lm-eval's own functions, and against numbers worked out by hand."""

import sys
import unittest
from importlib import import_module
from pathlib import Path

import numpy as np

from mean_score import mean_score, with_labels_right
from scorer_library.lm_eval.data import read_hub_data
from scorer_library.lm_eval.items import Item, official_shares
from scorer_library.lm_eval.super_glue import DATA, credits_of
from task_score import class_f1, task_baseline, task_error, task_score

HERE = Path(__file__).parents[1]


def item(config: str, credits: list[float], chosen: int, cluster: str = "") -> Item:
    likelihoods = [-1.0 if at == chosen else -2.0 for at in range(len(credits))]
    return Item(f"{config}/x", config, likelihoods, credits, cluster)


def one_of(count: int, right: int) -> list[float]:
    return [float(at == right) for at in range(count)]


class Cb(unittest.TestCase):
    def test_its_f1_is_the_one_that_lm_eval_computes_with_sklearn(self) -> None:
        draw = np.random.default_rng(1)
        aggregate = import_module("lm_eval.tasks.super_glue.cb.aggregate").cb_multi_fi
        for _ in range(20):
            pairs = [(int(chosen), int(gold)) for chosen, gold in draw.integers(0, 3, (9, 2))]
            items = [item("cb", one_of(3, gold), chosen) for chosen, gold in pairs]
            found = class_f1(items, [official_shares(item) for item in items])
            self.assertAlmostEqual(found, float(aggregate(pairs)), places=12)

    def test_its_error_is_the_plain_one_where_f1_and_accuracy_agree(self) -> None:
        self.assertEqual(task_error([item("cb", one_of(3, 0), 0)]), 0.0)
        right = [item("cb", one_of(3, at % 3), at % 3) for at in range(9)]
        self.assertAlmostEqual(task_error(right), 0.0)

    def test_a_constant_answer_earns_its_share_and_a_third_of_its_f1(self) -> None:
        items = [item("cb", one_of(3, 0), 0)] * 2 + [item("cb", one_of(3, at), 0) for at in (1, 2)]
        self.assertAlmostEqual(task_baseline(items), (0.5 + (2 * 2 / 6) / 3) / 2)


class Multirc(unittest.TestCase):
    def test_a_model_that_knows_every_answer_scores_nothing_as_shipped_and_all_when_corrected(self) -> None:
        rows = read_hub_data(HERE / "fixtures/private", DATA)["multirc"]
        knowing = [  # lm-eval offers yes, then no
            item("multirc", credits_of("multirc", row), 0 if row["label"] == 1 else 1) for row in rows
        ]
        found = mean_score(knowing)
        self.assertEqual((found["value"], found["extra"]["corrected"]), (0.0, 1.0))
        self.assertEqual(found["extra"]["baseline"], 0.5)  # five of ten answers are true

    def test_only_its_labels_are_swapped(self) -> None:
        self.assertEqual(with_labels_right(item("multirc", [1.0, 0.0], 0)).credits, [0.0, 1.0])
        self.assertEqual(with_labels_right(item("boolq", [1.0, 0.0], 0)).credits, [1.0, 0.0])

    def test_answers_about_one_paragraph_are_one_cluster(self) -> None:
        apart = [item("multirc", [1.0, 0.0], at % 2, cluster=str(at)) for at in range(8)]
        together = [item("multirc", [1.0, 0.0], at % 2, cluster=str(at % 2)) for at in range(8)]
        self.assertGreater(task_error(together), 1.3 * task_error(apart))


class Record(unittest.TestCase):
    def test_each_entity_earns_what_lm_eval_would_give_for_it(self) -> None:
        process = import_module("lm_eval.tasks.super_glue.record.util").process_results
        for row in read_hub_data(HERE / "fixtures/private", DATA)["record"]:
            entities = sorted(set(row["entities"]))
            document = {"entities": entities, "answers": sorted(set(row["answers"]))}
            for at, credit in enumerate(credits_of("record", row)):
                said = process(document, [(float(at == other), False) for other in range(len(entities))])
                self.assertAlmostEqual(credit, (said["f1"] + said["em"]) / 2)

    def test_an_entity_that_is_part_of_the_answer_earns_a_part(self) -> None:
        row = {"entities": ["Ida Berg", "Ida", "Per"], "answers": ["Ida Berg"]}
        self.assertEqual([round(credit, 3) for credit in credits_of("record", row)], [0.333, 1.0, 0.0])


class Mean(unittest.TestCase):
    def test_tasks_count_alike_and_their_errors_add_in_squares(self) -> None:
        rte = [item("rte", [1.0, 0.0], 0, str(at)) for at in range(10)]
        wic = [item("wic", [1.0, 0.0], at % 2, str(at)) for at in range(4)]
        found = mean_score([*rte, *wic])
        self.assertEqual(found["value"], 0.75)
        self.assertAlmostEqual(found["standardError"], (1 / 3 / 4) ** 0.5 / 2)
        self.assertEqual(found["extra"]["tasks"], 2)

    def test_constant_answers_never_exceed_the_trivial_baseline(self) -> None:
        for config, rows in read_hub_data(HERE / "fixtures/private", DATA).items():
            items = [item(config, credits_of(config, row), 0) for row in rows]
            baseline = task_baseline(items)
            self.assertLessEqual(task_score(items, [official_shares(item) for item in items]), baseline)
            self.assertGreater(baseline, 0)


if __name__ == "__main__":
    sys.exit(unittest.main())
