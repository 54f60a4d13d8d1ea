import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { MemorisationFile } from "@mlrb/formats/judged/memorisation";
import { attemptMemorisation, falseAlarms, taskReference } from "@mlrb/report/compare/memorised-texts";
import { brownSplit } from "../../tasks/brown/brown-split.ts";
import { writeRows } from "../../tasks/data/smoke-stage.ts";
import { runMemorisationStep, runStepProgram } from "./testing/run-memorisation-step.ts";

const at = mkdtempSync(join(tmpdir(), "memorisation-step-"));
after(() => rmSync(at, { recursive: true }));
const path = (name: string) => join(at, name);
const bytes = 512;

/** The beginnings of 12 held-out texts and of 100 public ones. */
function writeData(): { public: string; private: string } {
  const { train, heldOut } = brownSplit("baby-lm");
  const folders = { public: path("public"), private: path("private") };
  const some = <T>(list: T[], every: number) => list.filter((_, index) => index % every === 1);
  writeRows(
    folders.public,
    "train.jsonl",
    some(train, 4).map(({ content }) => ({ text: content.slice(0, bytes) })),
  );
  writeRows(
    folders.private,
    "heldout.jsonl",
    some(heldOut, 2).map(({ text, ...row }) => ({ ...row, text: text.slice(0, bytes) })),
  );
  return folders;
}

function admission(fields: object): string {
  const file = join(mkdtempSync(join(at, "a-")), "admission.json");
  writeFileSync(file, JSON.stringify({ formatVersion: 1, admitted: true, reasons: [], ...fields }));
  return file;
}

const data = writeData();

test("a model trained on the private texts is noted; one trained on public texts and reference models are not", () => {
  runStepProgram("testing/train_on_texts.py", [data.public, data.private, path("trained")]);
  mkdirSync(path("none"));
  const models = [{ name: "random-weights", title: "untrained", model: "small-random" }];
  runStepProgram("reference_models.py", [
    ...["--param", `references=${JSON.stringify(models)}`],
    ...["--input", `public=${data.public}`, "--input", `models=${path("none")}`],
    ...["--output", `models=${path("models")}`],
  ]);
  const references = runMemorisationStep(
    "reference_memorisation.py",
    { ...data, models: path("models") },
    path("references.json"),
  );
  const reference = taskReference({ kind: "ok", value: references });
  const found = (name: string) => {
    const value = runMemorisationStep(
      "memorisation.py",
      { ...data, submission: path(`trained/${name}`), admission: admission({}) },
      path(`${name}.json`),
    );
    const compared = attemptMemorisation({ kind: "ok", value }, reference);
    assert(compared.kind === "compared", JSON.stringify(compared));
    return compared;
  };
  const memorised = found("private");
  assert.equal(memorised.noted, true, JSON.stringify(memorised));
  assert.ok(memorised.difference < -0.5, `${memorised.difference}`);
  const honest = found("public");
  assert.equal(honest.noted, false, JSON.stringify(honest));
  assert.ok(honest.difference > 0, "it has seen the public texts");
  const { falseAlarms: all, tasks } = falseAlarms(new Map([["task", reference]]));
  assert.deepEqual([all.noted, all.models], [0, 3], JSON.stringify(tasks));
});

test("a submission that was not admitted, or has unknown settings, is not opened", () => {
  const measured = (fields: object): MemorisationFile =>
    runMemorisationStep(
      "memorisation.py",
      { submission: at, public: data.public, private: data.private, admission: admission(fields) },
      path("refused.json"),
    );
  const reasons = [{ code: "config", detail: "it is torn" }];
  const [torn] = measured({ admitted: false, reasons }).models;
  assert.deepEqual(torn, { name: "submission", kind: "rejected", reason: "not admitted: it is torn" });
  const [open] = measured({ undecided: [{ code: "setting", detail: "x is unknown" }] }).models;
  assert.deepEqual(open, { name: "submission", kind: "rejected", reason: "undecided: x is unknown" });
});

test("a task without private documents measures nothing", () => {
  const found = runMemorisationStep(
    "memorisation.py",
    { submission: at, public: at, private: at, admission: admission({}) },
    path("none.json"),
  );
  assert.deepEqual(found, { formatVersion: 1, privateDocuments: false, reference: null, models: [] });
  assert.match(readFileSync(path("none.json"), "utf8"), /"models": \[\]/);
});

test("a published model is a reference model of its own kind, and one that task.yaml does not name is refused", () => {
  const args = (name: string) => [
    ...["--param", `references=[{"name":"small","title":"Small","model":"published:${name}"}]`],
    ...["--input", `public=${data.public}`, "--input", `models=${path("none")}`],
    ...["--input", `published=${path("models")}`, "--output", `models=${path(`of-${name}`)}`],
  ];
  for (const name of ["random-weights", "other"]) mkdirSync(path(`of-${name}`));
  runStepProgram("reference_models.py", args("random-weights"));
  const { small } = JSON.parse(readFileSync(path("of-random-weights/titles.json"), "utf8"));
  assert.deepEqual([small.title, small.kind], ["Small", "published-model"]);
  assert.ok(small.parameters > 0);
  assert.throws(
    () => runStepProgram("reference_models.py", args("other")),
    /no published model "other": task\.yaml does not name it in publishedModels/,
  );
});
