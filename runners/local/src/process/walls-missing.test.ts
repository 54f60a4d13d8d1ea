import assert from "node:assert/strict";
import { test } from "node:test";
import { wallsMissing } from "./walls.ts";

test("a machine that is too busy for a trial of walls is named so, not one that forbids them", {
  skip: process.platform !== "linux" && "walls need Linux",
}, async () => {
  // no machine starts Python and a shell within a millisecond
  assert.equal(
    await wallsMissing(1),
    "no walls can be built here: a trial did not end within 0.001 s, as on a machine that is too busy: run again",
  );
});
