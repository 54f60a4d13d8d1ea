import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { endsWhere, lastEnds } from "./last-ends.ts";

function journals(t: TestContext, runs: Record<string, object[] | string>): string {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-ends-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [run, lines] of Object.entries(runs)) {
    const text =
      typeof lines === "string" ? lines : lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    writeFileSync(join(folder, `${run}.jsonl`), text);
  }
  return folder;
}

const time = "2026-01-31T10:00:00.000Z";
const begin = (pipeline = "p", profile = "smoke") => ({ event: "begin", time, pipeline, profile });
const end = (stage: string, outcome: object) => ({ event: "stage", time, stage, outcome });
const failed = { kind: "failed", cause: "exit-code", detail: "it ended with 1" };
const asked = { pipeline: "p", profile: "smoke" };

function kinds(folder: string, wanted: string[]): Record<string, string> {
  const found = [...lastEnds(folder, { ...asked, wanted })];
  return Object.fromEntries(found.map(([stage, { outcome }]) => [stage, outcome.kind]));
}

test("the newest run that carried an instance out says how it ended", (t) => {
  const folder = journals(t, {
    "20260131T100000Z-1xaa": [begin(), end("a", failed), end("b", { kind: "succeeded" })],
    "20260131T110000Z-1xbb": [begin(), end("a", { kind: "succeeded" }), end("b", failed)],
  });
  assert.deepEqual(kinds(folder, ["a", "b", "c"]), { a: "succeeded", b: "failed" });
  assert.deepEqual(lastEnds(folder, { ...asked, wanted: ["b"] }).get("b"), {
    outcome: failed,
    time,
    reasons: [],
  });
});

test("a skipped or cancelled instance keeps its previous end", (t) => {
  const folder = journals(t, {
    "20260131T100000Z-1xaa": [begin(), end("a", failed), end("b", failed)],
    "20260131T110000Z-1xbb": [
      begin(),
      end("a", { kind: "skipped", because: "x" }),
      end("b", { kind: "cancelled" }),
    ],
  });
  assert.deepEqual(kinds(folder, ["a", "b"]), { a: "failed", b: "failed" });
});

test("the caller decides which ends count, and each has its reasons", (t) => {
  const reasons = [{ kind: "first-run" }];
  const folder = journals(t, {
    "20260131T100000Z-1xaa": [begin(), { ...end("a", { kind: "succeeded" }), reasons }],
    "20260131T110000Z-1xbb": [begin(), end("a", { kind: "reused" })],
  });
  const ran = endsWhere(folder, { ...asked, wanted: ["a"] }, ({ kind }) => kind === "succeeded");
  assert.deepEqual(ran.get("a"), { outcome: { kind: "succeeded" }, time, reasons });
});

test("of two ends in one run the later counts", (t) => {
  const folder = journals(t, {
    "20260131T100000Z-1xaa": [begin(), end("a", failed), end("a", { kind: "succeeded" })],
  });
  assert.deepEqual(kinds(folder, ["a"]), { a: "succeeded" });
});

test("runs of other pipelines and profiles say nothing here, nor do files that are no run's", (t) => {
  const folder = journals(t, {
    "20260131T100000Z-1xaa": [begin("q"), end("a", failed)],
    "20260131T110000Z-1xbb": [begin("p", "paper"), end("a", failed)],
    unchanged: [begin(), end("a", failed)],
    "20260131T120000Z-1xcc": "torn by a kill",
    "20260131T130000Z-1xdd": `${JSON.stringify(begin())}\n{"event":"stage","sta`,
  });
  assert.deepEqual(kinds(folder, ["a"]), {});
});
