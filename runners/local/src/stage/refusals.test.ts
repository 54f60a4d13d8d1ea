import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Instance } from "@mlrb/core/plan/plan";
import type { Workspace } from "../store/workspace.ts";
import { withRefusals } from "./refusals.ts";

test("a flood of lines that hostile code wrote in place of the guard is not read whole", (t) => {
  const work = mkdtempSync(join(tmpdir(), "refusals-"));
  t.after(() => rmSync(work, { recursive: true }));
  // split into lines, so many would end this process without an exception
  writeFileSync(join(work, "refusals.jsonl"), Buffer.alloc(150 << 20, "\n"));
  const result = { kind: "succeeded" } as const;
  const none = { instance: {} as Instance, workspace: {} as Workspace };
  assert.equal(withRefusals(result, work, none), result);
});
