// Runs the Python tests of this scorer.
import { join } from "node:path";
import { test } from "node:test";
import { runPythonTests } from "../../testing/python-tests.ts";

test("the table of phenomena is complete, and each is the mean of its paradigms", () => {
  runPythonTests(join(import.meta.dirname, "test_phenomena.py"));
});
