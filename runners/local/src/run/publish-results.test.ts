import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { home, smallPlan } from "../testing/small-plan.ts";
import { publishedFiles, publishResults, resultsFolder } from "./publish-results.ts";
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

test("a pipeline's file with the name of one that the program writes next to a report is not published over", (t) => {
  const at = home(t);
  const workspace = at.open();
  const plan = smallPlan({ name: "report", publishes: true });
  const files = ["report.json", "report.html", "protocol.json", "protocol.tex"];
  plan.instances[0]!.stage.gives = files.map((file) => ({
    ...plan.instances[0]!.stage.gives[0]!,
    name: file,
    file,
  }));
  const digest = workspace.store.putText("mine");
  const outputs = Object.fromEntries(files.map((file) => [file, { kind: "file" as const, digest }]));
  const found = publishedFiles(plan, [{ outcome: { kind: "succeeded" }, outputs }], workspace);
  assert.deepEqual([...found.files.keys()], ["report.json"]);
  assert.deepEqual(
    found.problems.map(
      ({ message }) => /^"(.+?)" is published by .* and the program itself/.exec(message)?.[1],
    ),
    files.slice(1),
  );
});

test("a selection of many models has a folder whose name fits, another one for each selection", () => {
  const at = (count: number) => {
    const agents = Array.from(
      { length: count },
      (_, n) => `any-react@openrouter:vendor~a-model-with-a-long-name-${n}`,
    );
    return resultsFolder({ pipeline: "p", profile: "paper", selection: `agent=${agents.join("+")}` });
  };
  const names = [1, 10, 11, 50].map((count) => at(count).split("/").at(-1)!);
  for (const name of names) assert.ok(Buffer.byteLength(name) <= 255, name);
  assert.equal(new Set(names).size, 4);
  assert.match(names[0]!, /^paper\+agent=any-react@openrouter:vendor~a-model-with-a-long-name-0$/);
  assert.match(names[1]!, /^paper\+agent=any-react@.*\+[0-9a-f]{16}$/);
});
