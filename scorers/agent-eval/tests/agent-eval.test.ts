// Runs the Python tests of perplexity, speed and the reference points.
import { join } from "node:path";
import { test } from "node:test";
import { runPythonTests } from "../../testing/python-tests.ts";

test("perplexity equals a plain computation, and only equal values pass as reference points", () => {
  runPythonTests(join(import.meta.dirname, "test_agent_eval.py"));
});
