// Runs the Python tests of memory and compute.
import { join } from "node:path";
import { test } from "node:test";
import { runPythonTests } from "../../testing/python-tests.ts";

test("memory and compute agree with numbers worked out by hand", () => {
  runPythonTests(join(import.meta.dirname, "test_costs.py"));
});
