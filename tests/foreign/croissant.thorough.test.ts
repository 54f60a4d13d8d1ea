// mlcroissant, the library of Croissant's makers, validates a bundle's croissant.json and reads its tables.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { hashFile } from "@mlrb/local/digests/hash-file";
import { csvFiles } from "@mlrb/report/formats/csv-files";
import { nastyExample } from "@mlrb/report/testing/nasty-example";
import { croissantText } from "../../runners/cli/src/bundle/croissant.ts";
import { foreignPython } from "../support/machines/foreign-software.ts";

const { path: python, skip } = await foreignPython(["mlcroissant==1.1.1"]);
const folder = mkdtempSync(join(tmpdir(), "mlrb-croissant-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const report = nastyExample().report();
mkdirSync(join(folder, "results"));
const tables = Object.entries(csvFiles(report)).map(([name, text]) => {
  const path = join(folder, "results", name);
  writeFileSync(path, text);
  return { name, sha256: hashFile(path) };
});
const described = croissantText(report, { tables, date: "2026-01-31" });

/** Prints the warnings, and the number of rows of each set of records. */
const judge = `
import json, sys
import mlcroissant
dataset = mlcroissant.Dataset(jsonld=sys.argv[1])
print(json.dumps({
    "warnings": sorted(dataset.metadata.ctx.issues.warnings),
    "rows": {one.id: sum(1 for _ in dataset.records(one.id)) for one in dataset.metadata.record_sets},
}))
`;

/** `text`: of croissant.json. */
function judged(text: string) {
  const path = join(folder, "croissant.json");
  writeFileSync(path, text);
  // without HOME: nothing is read from a cache of another run
  const env = { PATH: process.env.PATH, HOME: folder };
  return spawnSync(python!, ["-c", judge, path], { encoding: "utf8", env });
}

test("mlcroissant finds no error and no warning, and reads each row of each table", { skip }, () => {
  const { status, stdout, stderr } = judged(described);
  assert.equal(status, 0, stderr);
  const found = JSON.parse(stdout.trim().split("\n").at(-1)!);
  assert.deepEqual(found.warnings, []);
  const known = JSON.parse(described).recordSet.map(({ name }: { name: string }) => name);
  assert.deepEqual(Object.keys(found.rows).sort(), known.sort());
  assert.equal(found.rows.attempts, report.attempts.length);
  assert.ok(Object.values(found.rows).every((rows) => Number(rows) > 0));
});

test("mlcroissant refuses a file without a digest and a column that the table lacks, and misses a licence", {
  skip,
}, () => {
  const undigested = judged(described.replace(/"sha256": "[0-9a-f]{64}"/, '"note": ""'));
  assert.equal(undigested.status, 1);
  assert.match(undigested.stderr, /1 error\(s\)[\s\S]*'md5', 'sha256'/);
  const other = judged(described.replaceAll('"column": "verdict"', '"column": "no_such_column"'));
  assert.equal(other.status, 1);
  assert.match(other.stderr, /no_such_column/);
  const { license: _, ...unlicensed } = JSON.parse(described);
  assert.match(judged(JSON.stringify(unlicensed)).stdout, /license\\" is recommended/);
});
