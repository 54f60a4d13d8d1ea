import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { admission } from "@mlrb/formats/judged/admission";
import { causality } from "@mlrb/formats/judged/causality";
import { mustFollow } from "@mlrb/formats/read-format";
import { readJson } from "@mlrb/kit/json-file";
import { pythonPath } from "@mlrb/kit/python-path";
import { makeSubmissions, testPython } from "../../scorers/testing/submissions.ts";
import { warmArguments } from "../../tests/support/warm-python.ts";

const repository = resolve(import.meta.dirname, "../..");
const root = mkdtempSync(join(tmpdir(), "causality-step-"));
before(() => {
  mkdirSync(join(root, "made"));
  makeSubmissions(join(root, "made"));
});
after(() => rmSync(root, { recursive: true }));

/** Tests the submission of this name, with the scored text of a scorer's fixtures. */
function step(name: string, scorer = "bits-per-byte") {
  const at = mkdtempSync(join(root, "t-"));
  writeFileSync(join(at, "given.json"), JSON.stringify({ formatVersion: 1, admitted: true, reasons: [] }));
  const ran = spawnSync(
    testPython(),
    warmArguments([
      "pipelines/steps/causality.py",
      ...[
        "--input",
        `submission=${join(root, "made", name)}`,
        "--input",
        `admission=${join(at, "given.json")}`,
      ],
      ...["--input", `private=${join(repository, "scorers", scorer, "fixtures/private")}`],
      ...["--output", `causality=${join(at, "causality.json")}`],
      ...["--output", `admission=${join(at, "admission.json")}`, "--secret-seed", "ab".repeat(32)],
      ...["--param", `scorers=${JSON.stringify([scorer])}`],
    ]),
    {
      cwd: repository,
      encoding: "utf8",
      env: { ...process.env, PYTHONPATH: pythonPath(repository), PYTHONDONTWRITEBYTECODE: "1" },
    },
  );
  assert.equal(ran.status, 0, ran.stderr);
  const file = join(at, "causality.json");
  return {
    bytes: readFileSync(file, "utf8"),
    causality: mustFollow(causality, readJson(file), file),
    admission: mustFollow(admission, readJson(join(at, "admission.json")), "admission.json"),
  };
}

test("a causal model passes, and the file holds every cut and the seed that repeats them", () => {
  const found = step("tiny");
  assert.equal(found.causality.verdict, "causal", found.causality.detail);
  assert.equal(found.causality.seed, "ab".repeat(32));
  assert.ok(found.causality.measured!.cuts.length > 20);
  assert.deepEqual(found.admission.lookAhead, { verdict: "causal", detail: found.causality.detail });
  assert.equal(step("tiny").bytes, found.bytes);
  assert.equal(found.admission.tokenizer!.answer, "pass", found.admission.tokenizer!.detail);
});

test("a model with attention in both directions looks ahead on every kind of scored text", () => {
  for (const scorer of ["bits-per-byte", "house-pairs", "blimp", "super-glue-mean", "house-facts"]) {
    const found = step("two-way-attention", scorer);
    assert.equal(found.admission.lookAhead!.verdict, "looks-ahead", `${scorer}: ${found.causality.detail}`);
    assert.match(found.admission.lookAhead!.detail, /found in [1-9]\d* of \d+ texts/);
  }
});

test("a model that cannot be used is undecided, with the reason", () => {
  const found = step("nan-weights");
  assert.deepEqual(found.admission.lookAhead, { verdict: "undecided", detail: "non-finite output" });
});

test("a task without scored text in a model's input leaves the admission as it was", () => {
  const found = step("tiny", "net-peak-bytes");
  assert.equal(found.causality.verdict, "undecided");
  assert.equal(found.admission.lookAhead, undefined);
});
