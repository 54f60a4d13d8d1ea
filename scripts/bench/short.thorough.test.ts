// The runner's steps use at most half again as much processor time, against a reference in the same run, as when
// ratios.json was written.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { grown, readRatios, renewCommand, shortRatios } from "./short.ts";

test("no step's processor time grew by more than half over the stored ratios", async (t) => {
  const stored = readRatios();
  const found = grown(await measured((remove) => t.after(remove)), stored);
  if (found.length === 0) return;
  t.diagnostic(`measured again: ${found.join("; ")}`);
  assert.deepEqual(
    grown(await measured((remove) => t.after(remove)), stored),
    [],
    `to accept the growth: ${renewCommand}`,
  );
});

async function measured(after: (remove: () => void) => void): Promise<Record<string, number>> {
  const work = mkdtempSync(join(tmpdir(), "mlrb-short-"));
  // a pipeline must be a file of the repository
  const pipelines = join(import.meta.dirname, `../../.mlrb/bench/short-${process.pid}`);
  mkdirSync(pipelines, { recursive: true });
  after(() => {
    for (const folder of [work, pipelines]) rmSync(folder, { recursive: true, force: true });
  });
  return await shortRatios({ work, pipelines });
}
