"""A sample of the rates that identity_rates.py measures by hand."""

import unittest

import torch
from identity_rates import measure

SEED = 4
MISSED = ("permuted and noise of 5 %", "permuted and rescaled")  # what ADR 43 says remains possible


class Rates(unittest.TestCase):
    def test_trained_models_show_no_sign_of_each_other_and_their_copies_are_found(self) -> None:
        torch.set_num_threads(1)
        result = measure(4, SEED)
        self.assertEqual(dict(result["pairs"]), {"pass": 12}, f"seed {SEED}")
        found = {name: dict(answers) for name, answers in result["copies"].items() if name not in MISSED}
        self.assertEqual(len(found), 11)
        for name, answers in found.items():
            self.assertEqual(list(answers), ["fail"], f"{name}, seed {SEED}")


if __name__ == "__main__":
    unittest.main()
