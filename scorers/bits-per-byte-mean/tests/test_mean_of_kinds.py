"""Checks the mean over kinds against numbers worked out by hand."""

import unittest

from mean_of_kinds import mean_of_kinds
from measure import pseudo_values
from scorer_library.public_texts import text_of


def sample(group: str, bits: float, size: float, cluster: str = "") -> dict[str, object]:
    sample.count += 1
    return {"group": group, "cluster": cluster or str(sample.count), "value": bits, "weight": size}


sample.count = 0


class MeanOfKinds(unittest.TestCase):
    def test_a_kind_with_more_bytes_counts_no_more(self) -> None:
        value, error = mean_of_kinds([sample("a", 3000, 1000), sample("a", 3000, 1000), sample("b", 1, 1)])
        self.assertAlmostEqual(value, 2.0)
        self.assertAlmostEqual(error, 0.0)

    def test_errors_of_kinds_add_as_squares(self) -> None:
        # each kind: 1 and 3 bits of a byte, mean 2, standard error 1
        value, error = mean_of_kinds([sample(kind, bits, 1) for kind in "ab" for bits in (1, 3)])
        self.assertAlmostEqual(value, 2.0)
        self.assertAlmostEqual(error, 2**0.5 / 2)

    def test_documents_of_one_cluster_count_once_for_the_error(self) -> None:
        once = [sample("a", 1, 1), sample("a", 3, 1)]
        twice = [sample("a", bits, 1, cluster) for bits, cluster in ((1, "x"), (3, "y")) for _ in range(2)]
        self.assertAlmostEqual(mean_of_kinds(once)[1], 1.0)
        self.assertAlmostEqual(mean_of_kinds(twice)[1], 1.0)

    def test_one_kind_alone_is_bits_per_byte(self) -> None:
        self.assertAlmostEqual(mean_of_kinds([sample("a", 1, 1), sample("a", 9, 4)])[0], 2.0)

    def test_pseudo_values_have_the_score_for_their_mean_and_keep_bits_and_bytes(self) -> None:
        samples = [sample("a", 1, 1), sample("a", 9, 4), sample("b", 5, 1)]
        kept = pseudo_values(samples, mean_of_kinds(samples)[0])
        self.assertAlmostEqual(sum(row["value"] for row in kept) / 3, 3.5)
        self.assertEqual([(row["bits"], row["bytes"]) for row in kept], [(1, 1), (9, 4), (5, 1)])


class PublicText(unittest.TestCase):
    def test_an_instruction_is_its_three_fields_in_the_order_they_are_read(self) -> None:
        row = {"input": "cat", "instruction": "Name the plural.", "output": "cats"}
        self.assertEqual(text_of(row), "Name the plural.\ncat\ncats\n")
        self.assertEqual(text_of({**row, "input": ""}), "Name the plural.\ncats\n")


if __name__ == "__main__":
    unittest.main()
