// Runs the Python tests of generation and of BLEU.
import { join } from "node:path";
import { test } from "node:test";
import { runPythonTests } from "../../testing/python-tests.ts";

test("a model generates greedily, within its limits, from a checked template", () => {
  runPythonTests(join(import.meta.dirname, "test_generate.py"), 10);
});
