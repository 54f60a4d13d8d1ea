import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { exampleLedger } from "@mlrb/formats/testing/example-ledger";
import { isResumable } from "./resumable.ts";

const gives = [{ name: "trajectory", file: "trajectory.jsonl", kind: "file" as const }];

function attempt(t: TestContext, start: object | string, folders: string[]): string {
  const path = mkdtempSync(join(tmpdir(), "mlrb-resumable-"));
  t.after(() => rmSync(path, { recursive: true }));
  for (const folder of ["out", ...folders]) mkdirSync(join(path, folder), { recursive: true });
  const line =
    typeof start === "string" ? start : `${JSON.stringify({ ...exampleEvent("start"), ...start })}\n`;
  writeFileSync(join(path, "out/trajectory.jsonl"), line);
  return path;
}

const sandbox = ["attempt-x/sandbox-y/workspace"];

test("an attempt of a model continues if its sandbox's files are there, or a restore point", (t) => {
  const resumable = (start: object | string, folders: string[] = sandbox) =>
    isResumable(attempt(t, start, folders), { gives });
  assert.equal(resumable({ kind: "llm" }), true);
  assert.equal(resumable({ kind: "command", gateway: [{ provider: "p" }] }), true);
  assert.equal(resumable({ kind: "team", membersCall: true }), true);
  assert.equal(resumable({ kind: "llm" }, []), false);
  const path = attempt(t, { kind: "llm" }, ["restore-points"]);
  assert.equal(isResumable(path, { gives }), false);
  writeFileSync(join(path, "restore-points/0001.json"), "{}");
  assert.equal(isResumable(path, { gives }), true);
});

test("a program without model calls, a replay and an attempt that had not begun do not continue", (t) => {
  const programs = [{ kind: "command" }, { kind: "team", membersCall: false }];
  for (const start of [...programs, { kind: "replay" }, { kind: "nop" }, "", '{"event":"sta'])
    assert.equal(isResumable(attempt(t, start, sandbox), { gives }), false, JSON.stringify(start));
  assert.equal(isResumable(attempt(t, { kind: "llm" }, sandbox), { gives: [] }), false);
});

test("an attempt with a whole ledger has ended and does not continue, unless it was interrupted", (t) => {
  const all = [...gives, { name: "ledger", file: "ledger.json", kind: "file" as const }];
  const path = attempt(t, { kind: "llm" }, sandbox);
  const sealed = (text: string) => {
    writeFileSync(join(path, "out/ledger.json"), text);
    return isResumable(path, { gives: all });
  };
  assert.equal(sealed(JSON.stringify(exampleLedger())), false);
  assert.equal(sealed(JSON.stringify(exampleLedger({ ended: "interrupted" }))), true);
  assert.equal(sealed(JSON.stringify(exampleLedger()).slice(0, 99)), true);
});
