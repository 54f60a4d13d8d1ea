// Runs the Python tests of this scorer.
import { join } from "node:path";
import { test } from "node:test";
import { runPythonTests } from "../../testing/python-tests.ts";

test("the worst domain's score, error and samples agree with numbers worked out by hand", () => {
  runPythonTests(join(import.meta.dirname, "test_worst.py"));
});
