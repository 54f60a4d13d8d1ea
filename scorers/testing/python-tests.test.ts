import assert from "node:assert/strict";
import { globSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type TestContext, test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { runPythonTests } from "./python-tests.ts";

function file(t: TestContext, body: string): string {
  const folder = mkdtempSync(join(tmpdir(), "python-tests-"));
  t.after(() => removeFolder(folder));
  mkdirSync(join(folder, "tests"));
  const path = join(folder, "tests", "test_example.py");
  const lines = ["import unittest", "", "class Example(unittest.TestCase):", body, "", "unittest.main()"];
  writeFileSync(path, lines.join("\n"));
  return path;
}

const passing = (name: string) => `    def test_${name}(self): pass`;
const skipped = `    @unittest.skip("not here")\n${passing("skipped")}`;

test("a Python file in which a test runs and passes is accepted", (t) => {
  runPythonTests(file(t, passing("one")));
  runPythonTests(file(t, `${passing("one")}\n${passing("two")}\n${skipped}`), 2);
});

for (const [what, body, least] of [
  ["no test", "    def helper(self): pass", 1],
  ["only skipped tests", skipped, 1],
  ["fewer tests than named", passing("one"), 2],
  ["fewer tests than named without its skipped one", `${passing("one")}\n${skipped}`, 2],
  ["a printed line as unittest's, but no test", '    print("Ran 9 tests at home")', 1],
] as const)
  test(`a Python file with ${what} is no pass`, (t) => {
    assert.throws(() => runPythonTests(file(t, body), least), /Python tests ran, at least \d should have/);
  });

test("a failed Python test fails with its output", (t) => {
  const body = "    def test_one(self): self.assertEqual(1, 2)";
  assert.throws(() => runPythonTests(file(t, body)), /AssertionError: 1 != 2/);
});

test("every file of Python tests is run by a test that counts what ran", () => {
  const cwd = join(import.meta.dirname, "../..");
  const found = (pattern: string) =>
    globSync(`{runners,scorers,tasks,pipelines,images,scripts}/${pattern}`, { cwd });
  const counting = found("**/*.test.ts")
    .map((path) => readFileSync(join(cwd, path), "utf8"))
    .filter((text) => /\brunPythonTests\(|\bassertTestsRan\(/.test(text));
  const files = found("**/test_*.py").filter((path) => !path.includes("node_modules"));
  assert.ok(files.length > 30);
  const alone = files.filter((path) => !counting.some((text) => text.includes(basename(path, ".py"))));
  assert.deepEqual(alone, []);
});
