import assert from "node:assert/strict";
import { test } from "node:test";
import { DiskEstimate, type DiskLook } from "./disk-estimate.ts";

const seen: DiskLook = { namedBytes: 10, openBytes: 0, mappedBytes: 0, hidden: false, freeBytes: 1000 };

/** What the estimate says after each look. */
function used(...looks: Partial<DiskLook>[]): number[] {
  const estimate = new DiskEstimate();
  return looks.map((look) => estimate.next({ ...seen, ...look }));
}

test("what is seen is what counts, whatever others do to the disk", () => {
  assert.deepEqual(used({}, { openBytes: 5, freeBytes: 100 }, { freeBytes: 5000 }), [10, 15, 10]);
});

test("while descriptors are out of sight, what the disk loses counts from the second look on", () => {
  const looks = [{}, { hidden: true, freeBytes: 700 }, { hidden: true, freeBytes: 600 }, { freeBytes: 600 }];
  assert.deepEqual(used(...looks), [10, 10, 410, 10]);
});

test("descriptors that one look missed are no evidence", () => {
  const once = { hidden: true, freeBytes: 100 };
  assert.deepEqual(used({}, once, {}, once, {}), [10, 10, 10, 10, 10]);
});

test("a program that hangs with descriptors in a queue costs nothing while the disk loses nothing", () => {
  assert.deepEqual(used({}, { hidden: true }, { hidden: true }, { hidden: true }), [10, 10, 10, 10]);
});

test("a mapped deleted file counts at most its mapping, and at most what the disk lost", () => {
  const mapped = { mappedBytes: 50 };
  const looks = [
    {},
    { ...mapped, freeBytes: 970 },
    { ...mapped, freeBytes: 100 },
    { ...mapped, freeBytes: 1000 },
  ];
  assert.deepEqual(used(...looks), [10, 40, 60, 10]);
});

test("a file with a name that is parked in a queue still counts", () => {
  assert.deepEqual(used({ namedBytes: 60 }, { hidden: true }, { hidden: true }), [60, 10, 60]);
});
