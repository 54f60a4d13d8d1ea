import assert from "node:assert/strict";
import { test } from "node:test";
import { closingMs, jobsInARow, limitIn } from "./partition-limit.ts";

const listed = "gpu*|1-12:00:00\nshort|30:00\nday|23:59:59\nlong|infinite\nodd|n/a\n";
const hour = 3_600_000;

test("the limit of a partition is read in each form of Slurm, and none is no limit", () => {
  const minutesOf = (name?: string) => (limitIn(listed, name) ?? Number.NaN) / 60_000;
  assert.equal(minutesOf(), 36 * 60);
  assert.equal(minutesOf("gpu"), 36 * 60);
  assert.equal(minutesOf("short"), 30);
  assert.equal(Math.ceil(minutesOf("day")), 24 * 60);
  assert.equal(minutesOf("long,short"), 30);
  for (const name of ["long", "odd", "gone"]) assert.equal(limitIn(listed, name), undefined, name);
});

test("an attempt within the limit is one job, and a longer one as many as its time needs", () => {
  assert.equal(jobsInARow(24 * hour, undefined), 1);
  assert.equal(jobsInARow(24 * hour, 24 * hour), 1);
  assert.equal(jobsInARow(25 * hour, 24 * hour), 2);
  assert.equal(jobsInARow(24 * hour, hour), 25);
  assert.equal(closingMs(60_000), 30_000, "a job of a minute works half of it");
});
