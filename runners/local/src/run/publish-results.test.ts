import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { home, smallPlan } from "../testing/small-plan.ts";
import { publishResults } from "./publish-results.ts";
import type { Result } from "./result.ts";

test("a damaged list of published files removes nothing outside its folder", (t) => {
  const at = home(t);
  const workspace = at.open();
  const plan = smallPlan({ name: "report", publishes: true });
  const digest = workspace.store.putText("table");
  const results: Result[] = [{ outcome: { kind: "succeeded" }, outputs: { out: { kind: "file", digest } } }];
  mkdirSync(join(at.root, "results"));
  at.write("results/precious", "mine");
  const memory = join(workspace.state.memory, "published.json");
  for (const list of [["../../precious"], "../../precious", [join(at.root, "results/precious")], null]) {
    writeFileSync(memory, JSON.stringify({ "results/small/smoke": list }));
    const published = publishResults(plan, results, workspace);
    assert.deepEqual(published?.files, [join(at.root, "results/small/smoke/out")]);
    assert.ok(existsSync(join(at.root, "results/precious")));
  }
});
