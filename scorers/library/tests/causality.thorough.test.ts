// Rates of found leaks over seeds, and rounding in honest models of 30 architectures: minutes.
import { join } from "node:path";
import { test } from "node:test";
import { runPythonTests } from "../../testing/python-tests.ts";

test("leaks are found at the stated rates, and rounding in honest models stays under a third of the tolerance", () => {
  runPythonTests(join(import.meta.dirname, "test_causality_rates.py"));
});
