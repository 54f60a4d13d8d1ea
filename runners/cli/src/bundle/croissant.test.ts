import assert from "node:assert/strict";
import { test } from "node:test";
import { resultRows } from "@mlrb/formats/report/result-tables";
import { nastyExample } from "@mlrb/report/testing/nasty-example";
import { checklistText } from "./checklist.ts";
import { croissantText } from "./croissant.ts";

const report = nastyExample().report();
const tables = ["attempts.csv", "groups.csv", "summary.csv"].map((name) => ({
  name,
  sha256: "a".repeat(64),
}));
const found = JSON.parse(croissantText(report, { tables, date: "2026-01-31" }));

test("Croissant's required fields and those of responsible AI are there", () => {
  for (const field of ["@context", "name", "description", "license", "url", "distribution", "recordSet"])
    assert.ok(found[field]?.length !== 0 && found[field] !== undefined, field);
  assert.equal(found["@type"], "sc:Dataset");
  assert.equal(found.conformsTo[0], "http://mlcommons.org/croissant/1.0");
  for (const field of ["Collection", "Limitations", "Biases", "UseCases", "SocialImpact"])
    assert.ok(found[`rai:data${field}`]?.length > 0, field);
  // what mlcroissant recommends
  assert.equal(found.datePublished, "2026-01-31");
  assert.match(found.citeAs, /2026-01-31\.$/);
  const undated = JSON.parse(croissantText(report, { tables, date: null }));
  assert.deepEqual([undated.datePublished, typeof undated.citeAs], [undefined, "string"]);
  assert.ok(found["rai:personalSensitiveInformation"]);
});

test("each known table is a file with its digest and a set of records with each column's type", () => {
  assert.deepEqual(
    found.distribution.map(({ contentUrl, sha256 }: Record<string, string>) => [contentUrl, sha256]),
    [
      ["results/attempts.csv", "a".repeat(64)],
      ["results/summary.csv", "a".repeat(64)],
    ],
  );
  for (const { name, field } of found.recordSet) {
    const columns = Object.keys(resultRows[name as "summary"].properties);
    assert.deepEqual(
      field.map((one: { name: string }) => one.name),
      columns,
    );
    for (const one of field) {
      assert.equal(one.source.fileObject["@id"], `${name}.csv`);
      assert.match(one.dataType, /^sc:(?:Text|Boolean|Integer|Float)$/);
    }
  }
});

test("the checklist says of what no amount is known, and that smoke data was generated", () => {
  const protocol = { kind: "none", freeze: "freeze it" } as const;
  const text = checklistText({ report, times: null, lock: "/none", protocol });
  assert.match(text, /attempts took unknown hours, unknown GPU hours and unknown dollars/);
  assert.match(text, /generated toy data/);
  const official = checklistText({
    report: { ...report, smoke: false },
    times: null,
    lock: "/none",
    protocol,
  });
  assert.match(official, /\*\*Protocol\.\*\* No protocol was frozen/);
  assert.match(official, /No lock of sources could be read, so their licences are unknown/);
});
