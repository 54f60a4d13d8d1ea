"""Rates at which leaks are found, and what rounding shows in honest models of every architecture here.

A quarter of the architectures is tried, each in one dtype, drawn by MLRB_TEST_SEED.
MLRB_TEST_CAUSALITY=full takes all of them.
"""

import copy
import os
import random
import unittest

import torch
from causal_models import HONEST, honest_models, submission_of
from leaking_models import SCORED, TEXTS, TOKENIZER, Leak, share, tested

from scorer_library.causality.judge_causality import TOLERANCES, measure_look_ahead

SEEDS = 10
NOT_RUN = {("mpt", "float64")}  # transformers puts the least number of F64 into a mask of F32, and fails
SEED = int(os.environ.get("MLRB_TEST_SEED", random.SystemRandom().randrange(2**31)))


def found(leak: Leak) -> int:
    return sum(tested(leak, seed).looks_ahead() for seed in range(SEEDS))


class Rates(unittest.TestCase):
    def test_a_leak_in_all_texts_or_a_tenth_of_them_is_always_found(self) -> None:
        for part in (1.0, 0.1):
            rate = found(lambda ids, _, part=part: 5.0 * (share(ids) < part))
            print(f"leak in {part:.0%} of the texts: found with {rate} of {SEEDS} seeds")
            self.assertEqual(rate, SEEDS)

    def test_a_leak_in_a_twentieth_is_found_and_a_hundredth_mostly(self) -> None:
        for part, least in ((0.05, SEEDS - 1), (0.01, SEEDS // 2)):
            rate = found(lambda ids, _, part=part: 5.0 * (share(ids) < part))
            print(f"leak in {part:.0%} of the texts: found with {rate} of {SEEDS} seeds")
            self.assertGreaterEqual(rate, least)

    def test_a_leak_at_a_twentieth_of_the_places_of_each_text_is_found(self) -> None:
        self.assertGreaterEqual(found(lambda ids, at: 5.0 * (share(ids, at) < 0.05)), SEEDS - 1)


class Honest(unittest.TestCase):
    def test_rounding_in_honest_models_stays_under_a_third_of_the_tolerance(self) -> None:
        self.assertGreaterEqual(len(HONEST), 20)
        print(f"dtypes drawn with MLRB_TEST_SEED={SEED}")
        draw = random.Random(SEED)
        largest = dict.fromkeys(TOLERANCES, 0.0)
        for name, model in honest_models(TEXTS, TOKENIZER):
            full = os.environ.get("MLRB_TEST_CAUSALITY") == "full"
            if not full and draw.random() < 0.75:
                continue
            for dtype in TOLERANCES if full else [draw.choice(sorted(TOLERANCES))]:
                if (name, dtype) in NOT_RUN:
                    continue
                tolerance = TOLERANCES[dtype]
                cast = copy.deepcopy(model).to(getattr(torch, dtype))
                result = measure_look_ahead(submission_of(cast, TOKENIZER), SCORED, bytes(32))
                gain = max(abs(value) for cut in result.cuts for value in (cut.gain.token, cut.gain.prefix))
                self.assertLess(3 * gain, tolerance, f"{name} in {dtype}")
                self.assertLess(3 * abs(result.mean().gain), result.mean().tolerance, f"{name} in {dtype}")
                largest[dtype] = max(largest[dtype], gain)
        for dtype, gain in largest.items():
            print(f"{dtype}: largest honest gain {gain:.1e} nats, tolerance {TOLERANCES[dtype]:.1e}")


if __name__ == "__main__":
    unittest.main()
