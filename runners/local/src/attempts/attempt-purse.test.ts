import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Instance } from "@mlrb/core/plan/plan";
import { purseFile, readPurse } from "@mlrb/kit/attempts/purse";
import type { Workspace } from "../store/workspace.ts";
import { handOverAnswersPurse, handOverPurse, paidAnswers } from "./attempt-purse.ts";

function place(t: TestContext) {
  const attempt = mkdtempSync(join(tmpdir(), "purse-"));
  t.after(() => rmSync(attempt, { recursive: true, force: true }));
  const workspace = { state: { attempts: attempt } } as Workspace;
  const by = (run: string, maxDollars?: number, prices: string[] = []) => ({
    ...{ run, workspace },
    purse: { prices, ...(maxDollars !== undefined && { maxDollars }) },
  });
  const file = join(attempt, purseFile);
  return { attempt, by, file, capOf: (run: string) => join(attempt, "caps", `${run}.jsonl`) };
}

test("a run that resumes an attempt replaces the earlier run's cap and prices, for this attempt only", (t) => {
  const { attempt, by, file, capOf } = place(t);
  handOverPurse(attempt, by("first", 10, ["m=1/2"]));
  handOverPurse(attempt, by("second", 3, ["m=3/4"]));
  const runs = [
    { run: "second", prices: ["m=3/4"] },
    { run: "first", prices: ["m=1/2"] },
  ];
  assert.deepEqual(readPurse(file), { runs, cap: capOf("second") });
  assert.doesNotMatch(readFileSync(capOf("first"), "utf8"), /3/u, "others of the first run keep their cap");
});

test("a run without a cap keeps the cap of an attempt, and adds none where the attempt has none", (t) => {
  const { attempt, by, file, capOf } = place(t);
  handOverPurse(attempt, by("first", 10));
  handOverPurse(attempt, by("second"));
  assert.equal(readPurse(file)!.cap, capOf("first"));
  rmSync(file);
  handOverPurse(attempt, by("first"));
  handOverPurse(attempt, by("second"));
  assert.equal(readPurse(file)!.cap, null);
});

test("a stage that pays for answers gets the purse of its own run alone, and other stages get none", (t) => {
  const { attempt: work, by, file, capOf } = place(t);
  const stage = (paid: boolean) => ({ stage: { spec: paid ? { paidAnswers: true } : {} } }) as Instance;
  handOverAnswersPurse(stage(false), { ...by("first", 10), work });
  assert.equal(readPurse(file), undefined);
  handOverAnswersPurse(stage(true), { ...by("first", 10, ["m=1/2"]), work });
  assert.deepEqual(readPurse(file), { runs: [{ run: "first", prices: ["m=1/2"] }], cap: capOf("first") });
  handOverAnswersPurse(stage(true), { ...by("second"), work });
  assert.deepEqual(readPurse(file), { runs: [{ run: "second", prices: [] }], cap: null });
  const at = { repository: "/r", state: { state: "/r/.mlrb", attempts: "/r/.mlrb/attempts" } };
  assert.equal(paidAnswers(stage(false), at as Workspace), undefined);
  assert.deepEqual(paidAnswers(stage(true), at as Workspace)!.variables("/w"), {
    MLRB_ANSWERS: "/r/.mlrb/answers",
    MLRB_PURSE: "/w/purse.json",
  });
});
