import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instance } from "@mlrb/core/plan/plan";
import { noKeys } from "./key-gate.ts";

const instance = (id: string, params: object, secrets: string[], durable = true) =>
  ({ id, stage: { name: "attempt", durable }, action: { params, secrets } }) as unknown as Instance;
const run = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ index, action: "run" as const, onStale: "leave" as const }));

test("an attempt without its model's key is refused with the variable's name", () => {
  const wants = instance("attempt[agent=a]", { model: { id: "m", key: "A_KEY" } }, ["A_KEY"]);
  const more = instance("attempt[agent=b]", { gateway: [{ provider: "p", key: "B_KEY" }] }, ["B_KEY"]);
  const problem = noKeys(run(3), [wants, wants, more], {})!;
  assert.equal(
    problem.message,
    "A_KEY is not set, and attempt[agent=a] and 1 more call models with it; B_KEY is not set, and attempt[agent=b] calls models with it",
  );
  assert.match(problem.help!, /^export A_KEY and B_KEY /);
  assert.equal(noKeys(run(3), [wants, wants, more], { A_KEY: "x", B_KEY: "y" }), undefined);
});

test("reused attempts, local endpoints and stages that are not attempts need no key", () => {
  const wants = instance("attempt[agent=a]", { model: { id: "m", key: "A_KEY" } }, ["A_KEY"]);
  assert.equal(noKeys([{ index: 0, action: "reuse", onStale: "leave" }], [wants], {}), undefined);
  assert.equal(noKeys([{ index: 0, action: "stale", onStale: "leave" }], [wants], {}), undefined);
  assert.ok(noKeys([{ index: 0, action: "stale", onStale: "rerun" }], [wants], {}));
  assert.equal(noKeys(run(1), [instance("x", { model: { id: "m" } }, [])], {}), undefined);
  assert.equal(noKeys(run(1), [instance("x", { model: { key: "A_KEY" } }, ["A_KEY"], false)], {}), undefined);
});
