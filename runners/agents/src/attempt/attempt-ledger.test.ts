import assert from "node:assert/strict";
import { test } from "node:test";
import type { ScaffoldEnd } from "../scaffold/scaffold.ts";
import { endedAs } from "./attempt-ledger.ts";

test("the ledger records whether the model submitted, gave up, refused or was silent", () => {
  const ended = (end: ScaffoldEnd) => endedAs({ kind: "scaffold", end });
  assert.equal(ended({ kind: "submitted" }), "submitted");
  assert.equal(ended({ kind: "stopped", detail: "" }), "gave-up");
  assert.equal(ended({ kind: "silent", detail: "" }), "silent");
  assert.equal(ended({ kind: "refused", detail: "" }), "refusal");
  assert.equal(endedAs({ kind: "exited", code: 0 }), "finished", "of a program no more is known");
});
