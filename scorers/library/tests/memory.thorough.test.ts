// Peaks of real models in processes of their own: half a minute.
import { join } from "node:path";
import { test } from "node:test";
import { runPythonTests } from "../../testing/python-tests.ts";

test("a model is measured by the whole recipe, whatever it states", () => {
  runPythonTests(join(import.meta.dirname, "test_memory_peaks.py"));
});
