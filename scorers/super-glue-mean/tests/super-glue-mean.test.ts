// Runs the Python tests of this scorer.
import { join } from "node:path";
import { test } from "node:test";
import { runPythonTests } from "../../testing/python-tests.ts";

test("the mean over tasks agrees with lm-eval's own metrics and with numbers worked out by hand", () => {
  runPythonTests(join(import.meta.dirname, "test_super_glue_mean.py"));
});
