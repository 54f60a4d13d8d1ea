import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { makeAttemptFolder } from "@mlrb/local/attempts/attempt-folders";
import { statePaths } from "@mlrb/local/store/state-folder";
import { exampleCard, exampleEnd, exampleRecord } from "@mlrb/local/testing/example-record";
import { unrecordedAttempts } from "./unrecorded-attempts.ts";

test("an attempt that becomes a record while attempts are listed is listed once, not left out", (t) => {
  const root = mkdtempSync(join(tmpdir(), "mlrb-unrecorded-"));
  t.after(() => rmSync(root, { recursive: true }));
  const state = statePaths(root);
  mkdirSync(state.leases, { recursive: true });
  const { path } = makeAttemptFolder(state.running, exampleCard);
  writeFileSync(join(path, "end.json"), JSON.stringify(exampleEnd));
  const { key: attemptKey, startedAt } = exampleCard;
  const record = { ...exampleRecord, attemptKey, ran: { ...exampleRecord.ran, startedAt } };
  let recorded: { digest: string; record: typeof record }[] = [];
  assert.equal(unrecordedAttempts(state, () => recorded).length, 1);
  // a run wrote the record and removed the folder after the folders had been read
  const meanwhile = () => {
    recorded = [{ digest: "d".repeat(64), record }];
    rmSync(path, { recursive: true });
    return recorded;
  };
  assert.deepEqual(unrecordedAttempts(state, meanwhile), []);
  assert.equal(recorded.length, 1);
});
