import assert from "node:assert/strict";
import { hash } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { lastSpending } from "@mlrb/kit/attempts/last-spending";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { exampleCard } from "../testing/example-record.ts";
import { attemptFolders, makeAttemptFolder } from "./attempt-folders.ts";
import { branchAt, branchStage, makeBranch } from "./branch-attempt.ts";
import { branchPoints } from "./branch-points.ts";

const gives = [{ name: "trajectory", file: "trajectory.jsonl", kind: "file" as const }];
const slot = { ...exampleCard.slot, stage: "attempt[task=words,seed=1]" };

/** A parent with these events, a line of the meter after each, and checkpoints after these numbers of lines. */
function parentWith(t: TestContext, events: object[], checkpoints: number[]) {
  const state = mkdtempSync(join(tmpdir(), "branch-"));
  t.after(() => removeFolder(state));
  mkdirSync(join(state, "leases"), { recursive: true });
  const running = join(state, "attempts/running");
  const card = { ...exampleCard, key: "a".repeat(64), slot, gives };
  const { name, path } = makeAttemptFolder(running, card);
  let previous = "0".repeat(64);
  for (const [index, event] of events.entries()) {
    const sinceStartMs = 1000 * (index + 1);
    const line = JSON.stringify({ formatVersion: 1, index, previous, sinceStartMs, ...event });
    appendFileSync(join(path, "out/trajectory.jsonl"), `${line}\n`);
    previous = hash("sha256", line);
    const counted = { tokens: 10 * (index + 1), dollars: index + 1 };
    const none = {
      calls: index,
      failedTries: 0,
      uncounted: 0,
      inputTokens: 0,
      outputTokens: 0,
      dollars: null,
    };
    const spent = { ...none, cachedInputTokens: 0, reasoningTokens: 0, waitedMs: {}, formatVersion: 1 };
    const meter = JSON.stringify({ ...spent, workingMs: sinceStartMs, sinceStartMs, counted });
    appendFileSync(join(path, "spending.jsonl"), `${meter}\n`);
  }
  mkdirSync(join(path, "checkpoints/contents"), { recursive: true });
  writeFileSync(join(path, "checkpoints/contents/1"), "x");
  for (const [at, after] of checkpoints.entries()) {
    const entries = [{ path: "workspace/a", kind: "file", mode: 0o644, content: "1", bytes: 1 }];
    const file = { formatVersion: 1, after, workingMs: 900 * after, entries };
    writeFileSync(join(path, `checkpoints/000${at + 1}.json`), JSON.stringify(file));
  }
  return { running, parent: { name, path, card } };
}

const call = { event: "model-call" };
const start = {
  event: "start",
  task: "words",
  agent: "a",
  seed: 1,
  kind: "llm",
  sandbox: "plain",
  deadline: "d",
};

test("steps are counted without answers that a restart left behind", async (t) => {
  const resumed = { event: "resumed", after: 2 };
  const { parent } = parentWith(t, [start, call, call, call, resumed, call], [2, 6]);
  const points = await branchPoints(parent);
  assert.ok(typeof points === "object");
  assert.deepEqual(
    points.map(({ step, counted }) => [step, counted.tokens]),
    [
      [1, 20],
      [2, 60],
    ],
  );
});

test("an attempt without a checkpoint, or with a changed trajectory, cannot be branched", async (t) => {
  const { parent } = parentWith(t, [start, call], []);
  assert.equal(await branchPoints(parent), "it has no checkpoint of its files");
  const changed = parentWith(t, [start, call, call], [2]);
  const file = join(changed.parent.path, "out/trajectory.jsonl");
  writeFileSync(file, readFileSync(file, "utf8").replace('"task":"words"', '"task":"other"'));
  assert.equal(await branchPoints(changed.parent), "its trajectory is damaged at line 2");
});

test("a branch has the parent's lines, files and used budget, a bill of 0, and a key, a slot and a number of its own", async (t) => {
  const { parent, running } = parentWith(t, [start, call, call], [2]);
  chmodSync(join(parent.path, "out/trajectory.jsonl"), 0o444); // as in a record
  const points = await branchPoints(parent);
  assert.ok(typeof points === "object");
  const branch = branchAt(parent, points[0]!, []);
  const { name, path } = makeBranch(parent, { point: points[0]!, branch, running });
  const read = (at: string, file: string) => readFileSync(join(at, file), "utf8");
  const theirs = read(parent.path, "out/trajectory.jsonl").split("\n");
  assert.deepEqual(read(path, "out/trajectory.jsonl").split("\n"), [...theirs.slice(0, 2), ""]);
  assert.equal(statSync(join(path, "out/trajectory.jsonl")).mode & 0o777, 0o644, "it continues");
  assert.equal(branch.head, hash("sha256", theirs[1]!));
  assert.equal(read(path, "checkpoints/contents/1"), "x");
  const { counted, calls, dollars, workingMs } = lastSpending(join(path, "spending.jsonl"))!;
  assert.deepEqual([counted, calls, dollars, workingMs], [{ tokens: 20, dollars: 2 }, 0, 0, 1800]);
  const found = attemptFolders(running).find((one) => one.name === name)!;
  assert.equal(found.state.kind, "resumable", "although the process that made it is alive");
  assert.notEqual(found.card.key, parent.card.key);
  const id = parent.name.slice(0, 12);
  assert.equal(found.card.slot.stage, `attempt[task=words,seed=1,branch=${id}@1]`);
  const second = branchAt(parent, points[0]!, [branch]);
  assert.equal(branchStage(slot.stage, second), `attempt[task=words,seed=1,branch=${id}@1.2]`);
});
