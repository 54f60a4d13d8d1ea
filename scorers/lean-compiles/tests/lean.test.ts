// Runs the Python tests of the proof checker.
import { join } from "node:path";
import { test } from "node:test";
import { runPythonTests } from "../../testing/python-tests.ts";

test("hostile texts do not count as proofs, and honest proofs do", () => {
  runPythonTests(join(import.meta.dirname, "test_lean.py"), 10);
});
