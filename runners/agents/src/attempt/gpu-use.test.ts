import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import type { Gpu } from "@mlrb/core/ports/gpu";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { fakeGpus, fakeNvidia } from "../../../../tests/support/machines/fake-nvidia.ts";
import { until } from "../../../../tests/support/processes.ts";
import { busyMsOf, readReports, watchGpus } from "./gpu-use.ts";

const gpu = (uuid: string): Gpu => ({
  ...{ index: 0, uuid, model: "Fake", memoryBytes: 1, driver: "1", slice: false },
});

test("busy time weighs each sample by the time before it, and assumes the rest to be like the known part", () => {
  const half = [
    { atMs: 1000, shares: 1 },
    { atMs: 3000, shares: 0.25 },
  ];
  assert.equal(busyMsOf(half, 3000), 1500);
  assert.equal(busyMsOf(half, 3200), 1600);
  assert.equal(busyMsOf([{ atMs: 1000, shares: 0 }], 1000), 0, "it did not compute, which is known");
});

test("busy time is unknown instead of 0 if the driver reported nothing or too little", () => {
  assert.equal(busyMsOf([], 1000), null);
  assert.equal(busyMsOf([{ atMs: 1000, shares: null }], 1000), null);
  const gap = [
    { atMs: 1000, shares: 1 },
    { atMs: 2000, shares: null },
  ];
  assert.equal(busyMsOf(gap, 2000), null);
  const hiccup = Array.from({ length: 20 }, (_, at) => ({
    ...{ atMs: 1000 * (at + 1), shares: at === 7 ? null : 1 },
  }));
  assert.equal(busyMsOf(hiccup, 20_000), 20_000);
});

test("a report that is no percentage is no share, and one that is no number is no memory", () => {
  const text =
    "GPU-1, 35, 1024\nGPU-2, [N/A], 12\nGPU-3, 400, [N/A]\nsome warning\na, b, warning, 3\nGPU-4, 0, 0\r\n";
  assert.deepEqual(Object.fromEntries(readReports(text)), {
    "GPU-1": { share: 0.35, memoryMiB: 1024 },
    "GPU-2": { share: null, memoryMiB: 12 },
    "GPU-3": { share: null, memoryMiB: null },
    "GPU-4": { share: 0, memoryMiB: 0 },
  });
});

test("the peak of memory is that of the fullest of its GPUs at any poll, also where the busy time is unknown", async () => {
  const polls = [
    [10, 700],
    [900, 20],
    [30, null],
    [null, null],
  ];
  let asked = 0;
  const ask = async () => {
    const [own, other] = polls[Math.min(asked++, 3)]!;
    const report = (memoryMiB: number | null) => ({ share: null, memoryMiB });
    return new Map([
      ["a", report(own!)],
      ["b", report(other!)],
      ["foreign", report(5000)],
    ]);
  };
  const watched = watchGpus([gpu("a"), gpu("b")], { now: () => 0, pauseMs: 1, ask });
  assert.equal(watched.memoryPeakMiB(), null, "nothing was polled yet");
  await until("four polls", () => asked > 4);
  watched.stop();
  assert.equal(watched.memoryPeakMiB(), 900);
  assert.equal(watched.busyMs(1000), null);
});

test("an attempt without GPUs polls no driver, and its busy time and memory are unknown", async () => {
  const watched = watchGpus([], { now: () => 0, pauseMs: 1, ask: () => assert.fail("asked") });
  await new Promise((resolve) => setTimeout(resolve, 20));
  watched.stop();
  assert.deepEqual([watched.busyMs(1000), watched.memoryPeakMiB()], [null, null]);
});

test("only the attempt's GPUs count, and a slice that nvidia-smi does not list is unknown (fake nvidia-smi)", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "busy-"));
  t.after(() => removeFolder(folder));
  const gpus = fakeGpus(3).map((one, index) => ({
    ...{ ...one, utilization: String(20 * index), memoryUsedMiB: 1000 - index },
  }));
  const nvidia = fakeNvidia(folder, gpus);
  const { PATH } = process.env;
  process.env.PATH = `${nvidia.bin}${delimiter}${PATH}`;
  t.after(() => {
    process.env.PATH = PATH;
  });
  const options = { now: () => 1000, pauseMs: 1 };
  const [two, slice] = [gpus.slice(1).map(({ uuid }) => gpu(uuid)), [gpu("MIG-1")]];
  const [known, unknown] = [watchGpus(two, options), watchGpus(slice, options)];
  await until("the shares", () => known.busyMs(1000) !== null);
  assert.equal(known.busyMs(1000), 600, "20 % of one and 40 % of the other");
  assert.equal(known.memoryPeakMiB(), 999, "the GPU with 1000 MiB is not the attempt's");
  await until("two more questions", () => nvidia.asked().length > 4);
  assert.deepEqual([unknown.busyMs(1000), unknown.memoryPeakMiB()], [null, null]);
  for (const one of [known, unknown]) one.stop();
});
