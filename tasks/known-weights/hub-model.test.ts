// Runs the Python tests of the program that makes fingerprints.
import { join } from "node:path";
import { test } from "node:test";
import { runPythonTests } from "../../scorers/testing/python-tests.ts";

test("the tensors of a model on a hub are read one at a time, by range requests", () => {
  const file = join(import.meta.dirname, "testing/test_hub_model.py");
  runPythonTests(file, 3);
});
