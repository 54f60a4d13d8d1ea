// Runs the Python tests of this scorer.
import { join } from "node:path";
import { test } from "node:test";
import { runPythonTests } from "../../testing/python-tests.ts";

test("choices are permuted by the question alone, and a memorised letter gains nothing", () => {
  runPythonTests(join(import.meta.dirname, "test_permute.py"), 6);
});
