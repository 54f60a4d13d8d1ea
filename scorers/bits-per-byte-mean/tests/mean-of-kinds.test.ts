// Runs the Python tests of this scorer.
import { join } from "node:path";
import { test } from "node:test";
import { runPythonTests } from "../../testing/python-tests.ts";

test("the mean over kinds of text agrees with numbers worked out by hand", () => {
  runPythonTests(join(import.meta.dirname, "test_mean_of_kinds.py"), 6);
});
