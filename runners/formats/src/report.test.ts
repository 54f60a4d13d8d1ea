// What was written before must stay readable, and a renderer must never meet a field that is not there.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { checkFormat, readFormat } from "./read-format.ts";
import { report } from "./report.ts";

const repository = join(import.meta.dirname, "../../..");

for (const path of ["docs/smoke/report.json", "runners/report/golden/nasty.json.txt"])
  test(`${path} follows the format of reports`, () => {
    const reading = readFormat(report, readFileSync(join(repository, path), "utf8"));
    assert.equal(reading.kind === "ok" ? "" : reading.cause, "");
  });

test("a report without one of its fields is refused with the field's place", () => {
  const whole = JSON.parse(readFileSync(join(repository, "docs/smoke/report.json"), "utf8"));
  const lacking = (change: (copy: typeof whole) => void) => {
    const copy = structuredClone(whole);
    change(copy);
    const reading = checkFormat(report, copy);
    return reading.kind === "ok" ? "" : reading.cause;
  };
  for (const field of Object.keys(whole).filter((name) => name !== "memorisation"))
    assert.equal(
      lacking((copy) => delete copy[field]),
      `${field} is missing`,
    );
  assert.equal(
    lacking((copy) => delete copy.cells[1].errors.overItems),
    "cells.1.errors.overItems is missing",
  );
  assert.equal(
    lacking((copy) => (copy.attempts[0].verdict.kind = "fine")),
    'attempts.0.verdict.kind is "fine", not one of pass, disqualified, rejected, undecided, missing',
  );
});

test("a report from before the comparison of private texts is read", () => {
  const { memorisation, ...earlier } = JSON.parse(
    readFileSync(join(repository, "docs/smoke/report.json"), "utf8"),
  );
  assert.ok(memorisation);
  assert.equal(checkFormat(report, earlier).kind, "ok");
});
