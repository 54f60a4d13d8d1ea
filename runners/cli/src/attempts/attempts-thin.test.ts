import assert from "node:assert/strict";
import { test } from "node:test";
import { smallPlan } from "@mlrb/local/testing/small-plan";
import { readersOf } from "./attempts-thin.ts";

test("a stage that collects a folder of the attempt, or one made of it, is a reader, and one that collects scores or digests is none", () => {
  const plan = smallPlan(
    { name: "attempt", durable: true, gives: { submission: "dir" } },
    { name: "clean", needs: { submission: "attempt.submission" }, gives: { clean: "dir" } },
    { name: "score", needs: { clean: "clean.clean" } },
    { name: "soup", collect: ["attempt.submission"], gives: { soup: "dir" } },
    { name: "cleanest", collect: ["clean.clean"] },
    { name: "soup-score", needs: { soup: "soup.soup" } },
    { name: "report", collect: ["score.out", "#attempt.submission", "#clean.clean"] },
  );
  const names = readersOf(plan.instances[0]!, ["submission"], plan).map(({ id }) => id);
  assert.deepEqual(names, ["clean", "score", "soup", "cleanest", "soup-score"]);
});
