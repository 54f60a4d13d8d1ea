import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pythonPath } from "@mlrb/kit/python-path";
import { testPython } from "../../scorers/testing/submissions.ts";
import { makeData, readRows } from "../testing/made-data.ts";
import { families, type Item } from "./items.ts";
import { partOf, type Row, statementOf } from "./split.ts";

const temporary = mkdtempSync(join(tmpdir(), "mlrb-math-"));
const [first, second] = [join(temporary, "first"), join(temporary, "second")];
before(() => {
  for (const folder of [first, second]) {
    const made = makeData("math-reasoning", { source: "smoke", folder });
    assert.equal(made.status, 0, made.stderr);
  }
});
after(() => rmSync(temporary, { recursive: true }));

test("two runs write the same bytes", () => {
  const files = readdirSync(first, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const paths = files.map((entry) => join(entry.parentPath, entry.name).slice(first.length + 1)).sort();
  assert.deepEqual(paths, [
    "private/math/House.lean",
    "private/math/settings.json",
    "private/math/test.jsonl",
    "public/House.lean",
    "public/README.md",
    "public/dev.jsonl",
    "public/train.jsonl",
  ]);
  for (const path of paths)
    assert.ok(readFileSync(join(first, path)).equals(readFileSync(join(second, path))), path);
});

test("no public row has the statement of a test row, in English or in Lean", () => {
  const open = [...rows("public/train.jsonl"), ...rows("public/dev.jsonl")];
  const said = new Set(open.flatMap((row) => [row.informal_statement, statementOf(row)]));
  const names = new Set(open.map(({ name }) => name));
  for (const row of rows("private/math/test.jsonl")) {
    assert.ok(!said.has(row.informal_statement), row.name);
    assert.ok(!said.has(statementOf(row)), row.name);
    assert.ok(!names.has(row.name), row.name);
  }
});

test("every row has the hub's four fields, and public rows have no others", () => {
  for (const part of ["train", "dev"])
    for (const row of rows(`public/${part}.jsonl`))
      assert.deepEqual(Object.keys(row), ["formal_proof", "informal_proof", "informal_statement", "name"]);
});

test("every statement is in the part of its first name's hash", () => {
  for (const [file, part] of [
    ["public/train.jsonl", "train"],
    ["public/dev.jsonl", "dev"],
    ["private/math/test.jsonl", "test"],
  ] as const) {
    // names of a statement differ only in the last number, which is the phrasing
    for (const { name } of rows(file)) assert.equal(partOf(name.replace(/\d$/, "1")), part, name);
  }
});

test("the test has 120 rows, spread evenly over families, and 40 have phrasings that no public row has", () => {
  const items = rows<Item>("private/math/test.jsonl");
  assert.equal(items.length, 120);
  const byFamily = Object.values(Object.groupBy(items, ({ group }) => group));
  assert.equal(byFamily.length, 13);
  assert.deepEqual(new Set(byFamily.map((members) => members!.length)), new Set([9, 10]));
  const phrasing = ({ name }: Row) => name.replace(/_\d+_/, "_");
  const open = new Set([...rows("public/train.jsonl"), ...rows("public/dev.jsonl")].map(phrasing));
  const trained = new Set(rows("public/train.jsonl").map(phrasing));
  assert.equal(items.filter((item) => !open.has(phrasing(item))).length, 40);
  for (const item of items) assert.equal(item.phrasing === "known", trained.has(phrasing(item)), item.name);
  assert.equal(rows("public/dev.jsonl").filter((row) => !trained.has(phrasing(row))).length, 40);
});

test("no sentence has two theorems", () => {
  const meanings = new Map<string, string>();
  for (const file of ["public/train.jsonl", "public/dev.jsonl", "private/math/test.jsonl"]) {
    for (const row of rows(file)) {
      const known = meanings.get(row.informal_statement);
      assert.ok(known === undefined || known === statementOf(row), row.informal_statement);
      meanings.set(row.informal_statement, statementOf(row));
    }
  }
});

test("a family's phrasings differ, and all have the same places", () => {
  for (const { name, phrasings } of families) {
    const all = [...phrasings.train, ...phrasings.dev, ...phrasings.test];
    assert.equal(new Set(all).size, 7, name);
    const places = all.map((template) =>
      [...new Set(template.match(/\{\w+\}/g))].sort().join(" ").replace("{claim}", ""),
    );
    assert.equal(new Set(places).size, 1, `${name}: ${places.join(" | ")}`);
  }
});

test("Lean compiles the proofs of test and dev and every eighth of train, and the scorer accepts one of each family", () => {
  const ran = spawnSync(
    testPython(),
    [join(import.meta.dirname, "tests/check_proofs.py"), join(first, "public"), join(first, "private"), "8"],
    {
      encoding: "utf8",
      env: {
        ...process.env,
        PYTHONPATH: pythonPath(resolve(import.meta.dirname, "../..")),
        PYTHONDONTWRITEBYTECODE: "1",
      },
    },
  );
  assert.equal(ran.status, 0, ran.stderr);
  const trained = Math.ceil(rows("public/train.jsonl").length / 8);
  assert.deepEqual(JSON.parse(ran.stdout), { compiled: 240 + trained, judged: 13 });
});

test("an unknown source is refused by name, and official data without its downloads", () => {
  const made = makeData("math-reasoning", { source: "other", folder: join(temporary, "other") });
  assert.notEqual(made.status, 0);
  assert.match(
    made.stderr,
    /math-reasoning: no data for source "other": only "smoke" and "official" are built/,
  );
  const official = makeData("math-reasoning", { source: "official", folder: join(temporary, "official") });
  assert.notEqual(official.status, 0);
  assert.match(
    official.stderr,
    /official data is made of downloads: name their manifest with --input manifest=/,
  );
});

function rows<T = Row>(file: string): T[] {
  return readRows<T>(join(first, file));
}
