import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Sandbox, SnapshotRequest, SnapshotResult } from "@mlrb/core/ports/sandbox";
import fc from "fast-check";
import { SnapshotKeeper } from "./snapshot-keeper.ts";
import { submissionAt } from "./submission-at.ts";

const root = mkdtempSync(join(tmpdir(), "keeper-"));
after(() => rmSync(root, { recursive: true }));

const budgetMs = 100_000;

/** The index of a keeper whose submission of `bytes` changes at each of `changes`, in ms. */
async function kept(changes: number[], { bytes = 10, bytesMax = 1e9, fullAt = [] as number[] } = {}) {
  const folder = mkdtempSync(join(root, "k-"));
  let now = 0;
  const full = new Set(fullAt);
  const sandbox = {
    async snapshot({ to }: SnapshotRequest): Promise<SnapshotResult> {
      if (full.delete(now)) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
      mkdirSync(to);
      const files = [{ path: "m", digest: `at ${now}`, bytes, executable: false }];
      const tree = { digest: `at ${now}`, files, bytes, leftOut: [], leftOutMore: 0, torn: [] };
      return { kind: "taken", tree, state: `at ${now}` } as unknown as SnapshotResult;
    },
  } as unknown as Sandbox;
  const keeper = new SnapshotKeeper({
    sandbox,
    inside: "submission",
    folder,
    limits: { bytesMax: 1e9, filesMax: 10 },
    snapshotsMax: 40,
    bytesMax,
    pauseMs: 1000,
    budgetMs,
    write() {},
  });
  for (const change of changes) {
    now = change;
    await keeper.look(change);
  }
  const index = keeper.index();
  assert.deepEqual(readdirSync(folder).sort(), index.snapshots.map(({ name }) => name).sort());
  return index;
}

const every = (step: number, from: number) =>
  Array.from({ length: Math.floor((budgetMs - from) / step) }, (_, at) => from + at * step);
const ledger = { workingMs: budgetMs, submission: { digest: "other" } };

test("the only submission of the first quarter is kept, however often a later one changes", async () => {
  const index = await kept([10_000, ...every(1000, 60_000)], { bytes: 10, bytesMax: 95 });
  assert.ok(index.snapshots.length <= 9);
  assert.equal(index.snapshots[0]!.sinceStartMs, 10_000);
  assert.deepEqual(submissionAt(0.25, index, ledger), { kind: "snapshot", name: "0001" });
});

test("the submission at each quarter is the last snapshot before it, for any changes", async () => {
  const times = fc.array(fc.integer({ min: 1, max: budgetMs }), { minLength: 1, maxLength: 150 });
  await fc.assert(
    fc.asyncProperty(times, fc.constantFrom(45, 95, 1e9), async (list, bytesMax) => {
      const changes = [...new Set(list)].sort((a, b) => a - b);
      const index = await kept(changes, { bytesMax });
      assert.ok(index.snapshots.length <= 40 && index.snapshots.length * 10 <= bytesMax);
      const all = [...index.snapshots, ...index.dropped!].map(({ sinceStartMs }) => sinceStartMs);
      for (const share of [0.25, 0.5, 0.75]) {
        const last = Math.max(0, ...all.filter((at) => at <= share * budgetMs));
        const stood = submissionAt(share, index, ledger);
        const found =
          stood.kind === "snapshot" && index.snapshots.find(({ name }) => name === stood.name)!.sinceStartMs;
        assert.equal(stood.kind === "none" ? 0 : found, last);
      }
    }),
    { numRuns: 60 },
  );
});

test("without room for one snapshot a quarter, the missing ones are reported as dropped", async () => {
  const index = await kept([10_000, 40_000, 60_000, 90_000], { bytes: 10, bytesMax: 20 });
  assert.deepEqual(
    index.snapshots.map(({ sinceStartMs }) => sinceStartMs),
    [60_000, 90_000],
  );
  assert.deepEqual(submissionAt(0.25, index, ledger), { kind: "dropped" });
  const handedIn = { ...ledger, submission: { digest: "at 10000" } };
  assert.deepEqual(
    submissionAt(0.25, index, handedIn),
    { kind: "final" },
    "the submission became equal to it again",
  );
});

test("a full disk drops the oldest snapshot, and never the only one", async () => {
  const index = await kept([10_000, 12_000, 14_000], { fullAt: [14_000] });
  assert.deepEqual(
    index.snapshots.map(({ sinceStartMs }) => sinceStartMs),
    [12_000],
  );
});

test("after a full disk the final copy starts again with an empty folder", async () => {
  const folder = mkdtempSync(join(root, "k-"));
  const to = join(folder, "submission");
  mkdirSync(to);
  const stood: string[][] = [];
  const sandbox = {
    async snapshot(): Promise<SnapshotResult> {
      stood.push(readdirSync(to));
      writeFileSync(join(to, "a"), "copied");
      if (stood.length === 1) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
      return { kind: "unchanged" };
    },
  } as unknown as Sandbox;
  const keeper = new SnapshotKeeper({
    ...{ sandbox, inside: "submission", folder, limits: { bytesMax: 1e9, filesMax: 10 }, snapshotsMax: 40 },
    ...{ bytesMax: 1e9, pauseMs: 1000, budgetMs, write() {} },
  });
  await assert.rejects(keeper.final(to), /no space/);
  await keeper.final(to);
  assert.deepEqual(stood, [[], []]);
});
