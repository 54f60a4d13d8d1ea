// Runs the Python tests of what lets models write, and of BLEU.
import { join } from "node:path";
import { test } from "node:test";
import { runPythonTests } from "../../testing/python-tests.ts";

test("a model writes greedily, within its limits, and from a template that cannot misbehave", () => {
  runPythonTests(join(import.meta.dirname, "test_generate.py"), /Ran \d\d tests/);
});
