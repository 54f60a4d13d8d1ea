// Runs the Python tests of what checks formal proofs.
import { join } from "node:path";
import { test } from "node:test";
import { runPythonTests } from "../../testing/python-tests.ts";

test("no text that tries to smuggle something past Lean counts, and honest proofs do", () => {
  runPythonTests(join(import.meta.dirname, "test_lean.py"), /Ran \d\d tests/);
});
