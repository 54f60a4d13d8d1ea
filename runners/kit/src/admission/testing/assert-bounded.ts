import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type HostileCase, writeCase } from "./hostile-case.ts";
import { measuredAdmission } from "./measured-admission.ts";

const MiB = 1 << 20;

/** Admission of any folder stays below this, Node's own 60 MiB included. */
const peakMax = 512 * MiB;

/** Writes the case, admits it in a process of its own, and checks answer, memory and bytes read. */
export function assertBounded(hostile: HostileCase, readMax: number): void {
  const root = mkdtempSync(join(tmpdir(), "bounded-"));
  try {
    const { folder, skipped } = writeCase(root, hostile);
    assert.equal(skipped, undefined);
    const { codes, peakBytes, readBytes } = measuredAdmission(folder);
    assert.deepEqual(codes, hostile.codes);
    assert.ok(peakBytes < peakMax, `${Math.round(peakBytes / MiB)} MiB of memory`);
    assert.ok(readBytes <= readMax, `${Math.round(readBytes / MiB)} MiB read`);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
