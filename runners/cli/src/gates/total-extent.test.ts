import assert from "node:assert/strict";
import { test } from "node:test";
import { diskWords, endWords, totalExtent } from "./total-extent.ts";

const hourMs = 3_600_000;
const GiB = 2 ** 30;
const now = Date.parse("2026-11-26T12:00:00Z");

function extent(timesMs: (number | null)[], { gpus = 1, from = 0, diskBytes = 500 * GiB } = {}) {
  const started = timesMs.map((timeMs, index) => ({
    index,
    cost: { gpuHours: null, dollars: null, timeMs, from },
  }));
  return totalExtent(started, () => ({
    resources: { cpus: 1, memoryBytes: 0, gpus, pools: {} },
    limits: { diskBytes },
  }));
}

test("the expected end divides the time of all attempts by the host's GPUs, and is not before the longest one's", () => {
  const ten = extent(Array(10).fill(24 * hourMs));
  assert.equal(
    endWords(ten, { gpus: 1, now }),
    "expected end of the attempts: about 10.0 days after their start if this host's 1 GPU is always in use, by 2026-12-06 if they start now, if each takes its whole budget",
  );
  assert.match(
    endWords(ten, { gpus: 4, now }),
    /about 2\.5 days .* 4 GPUs are always in use, by 2026-11-29 /,
  );
  assert.match(endWords(ten, { gpus: 99, now }), /about 24 h 0 m/);
  assert.match(endWords(extent([24 * hourMs], { gpus: 2 }), { gpus: 2, now }), /about 24 h 0 m/);
});

test("on a host without a GPU the end is that of one GPU", () => {
  assert.equal(
    endWords(extent([24 * hourMs, 24 * hourMs]), { gpus: 0, now }),
    "expected end of the attempts: about 2.0 days after their start on one GPU, less with more; this host has none, if each takes its whole budget",
  );
});

test("times of earlier attempts are expectations, budgets are bounds, and a missing bound is named", () => {
  assert.match(
    endWords(extent([12 * hourMs], { from: 3 }), { gpus: 1, now }),
    /about 12 h 0 m[^,]*, by [^,]*$/,
  );
  assert.match(
    endWords(extent([24 * hourMs, null]), { gpus: 1, now }),
    /about 24 h 0 m .*; 1 without a bound are not counted$/,
  );
});

test("attempts without a GPU have no such line, and reused ones do not count", () => {
  assert.equal(endWords(extent([hourMs], { gpus: 0 }), { gpus: 1, now }), "");
  const reused = totalExtent([{ index: 0 }], () => {
    throw new Error("not asked");
  });
  assert.deepEqual([endWords(reused, { gpus: 1, now }), diskWords(reused, 0)], ["", ""]);
});

test("the disk line has the copies of downloads and the limit of one attempt", () => {
  assert.equal(
    diskWords(extent([hourMs]), 30 * GiB),
    "on disk: about 30.0 GiB for the downloads and their copies, at most 500.0 GiB for each attempt that runs",
  );
  assert.equal(
    diskWords(extent([hourMs], { diskBytes: 0 }), 3 * GiB),
    "on disk: about 3.0 GiB for the downloads and their copies",
  );
});
