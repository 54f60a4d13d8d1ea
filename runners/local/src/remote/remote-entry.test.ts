import assert from "node:assert/strict";
import { test } from "node:test";
import { smallPlan } from "../testing/small-plan.ts";
import { remoteAddress } from "./remote-entry.ts";

const key = "a".repeat(64);
const instance = (gpus: number) => smallPlan({ name: "s", execution: { resources: { gpus } } }).instances[0]!;

test("the result of a stage with a GPU lies apart for each GPU model, and without one under its key", () => {
  const on = (gpus: number, ...models: string[]) => remoteAddress(key, instance(gpus), () => models);
  assert.equal(on(0, "H100"), key);
  assert.notEqual(on(1, "H100"), key);
  assert.notEqual(on(1, "H100"), on(1, "A100"));
  assert.equal(on(1, "H100", "H100"), on(1, "H100"), "how many there are changes no digit");
  assert.equal(on(1, "A100", "H100"), on(1, "H100", "A100"));
});
