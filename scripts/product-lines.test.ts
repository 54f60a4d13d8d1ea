import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isProduct, linesByPackage, linesTable, productLines } from "./product-lines.ts";

test("product code has no more lines than CONTRIBUTING.md allows", (t) => {
  const found = linesByPackage();
  t.diagnostic(`\n${linesTable(found)}`);
  const text = readFileSync(join(import.meta.dirname, "../CONTRIBUTING.md"), "utf8");
  const cap = Number(/At most ([\d ]+) product lines/.exec(text)![1]!.replaceAll(" ", ""));
  const total = found.reduce((sum, [, lines]) => sum + lines, 0);
  assert.ok(total > 10_000);
  assert.ok(total <= cap, `${total} product lines, over ${cap}:\n${linesTable(found)}`);
});

test("blank lines, comments, tests and what only tests use do not count", () => {
  const text =
    "// one\n\n/** two\n * three\n */\nconst a = 1; // four\n/* five */ const b = 2;\nconst c = `\n  # six`;\n";
  assert.equal(productLines("a.ts", text), 4);
  assert.equal(productLines("a.py", '# one\n\n"""two"""\na = 1  # three\n'), 2);
  assert.equal(productLines("a.html", "<!-- one\ntwo -->\n<p>three</p>\n"), 1);
  const paths = [
    "a/b.ts",
    "a/b.test.ts",
    "a/test_b.py",
    "a/testing/b.ts",
    "tests/b.py",
    "scripts/bench/b.ts",
    "a/b.md",
  ];
  assert.deepEqual(paths.filter(isProduct), ["a/b.ts"]);
});
