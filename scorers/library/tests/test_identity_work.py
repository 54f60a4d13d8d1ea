"""What a comparison may cost, and models that have nothing to compare."""

import unittest

import torch

from mlrb_kit.rejected import Rejected
from scorer_library.identity.hidden_map import find_map
from scorer_library.identity.known import PROFILES_MAX, drawn
from scorer_library.identity.work import SECONDS_MAX, Work


class Bounds(unittest.TestCase):
    def test_work_beyond_the_bound_is_rejected_by_sizes_and_not_by_time(self) -> None:
        work = Work()
        with self.assertRaisesRegex(Rejected, "more than 90 minutes of one core"):
            for _ in range(10**6):
                work.eigenvalues(4096)
        self.assertLess(work.seconds, SECONDS_MAX + 60)

    def test_small_matrices_do_not_crowd_out_large_ones(self) -> None:
        large = {f"large.{at}": 500_000 for at in range(200)}
        small = {f"small.{at}": 1024 for at in range(20_000)}
        for seed in ("00", "01", "02"):
            found = drawn(large | small, seed)
            self.assertEqual(len(found), PROFILES_MAX)
            self.assertGreater(len(found & set(large)), PROFILES_MAX // 2)
        self.assertNotEqual(drawn(large, "00"), drawn(large, "01"))

    def test_a_model_without_width_has_no_map(self) -> None:
        self.assertIsNone(find_map(torch.zeros(512, 0), torch.randn(512, 64), 1))


if __name__ == "__main__":
    unittest.main()
