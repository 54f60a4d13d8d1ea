import assert from "node:assert/strict";
import { test } from "node:test";
import type { Reason } from "@mlrb/core/key/reasons";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import { memorySources } from "@mlrb/core/testing/memory-sources";
import { renderDiagnostic } from "@mlrb/core/yaml/diagnostic";
import type { InstanceNow } from "../attempts/read-states.ts";
import { readable } from "../commands/report-command.ts";
import type { InstanceState } from "./instance-state.ts";
import { reportAge, reportAgeWords } from "./report-age.ts";

const text = `formatVersion: 1
name: test
axes: { word: [a, b, c, d, e, f] }
stages:
  make: { each: [word], command: make, gives: { text: file } }
  gather: { collect: [make.text], command: gather, gives: { all: file } }
`;

function words(states: Record<string, InstanceState>, asGiven = true): string[] {
  const sources = memorySources({ "pipelines/test.yaml": text });
  const result = loadPlan({ file: "pipelines/test.yaml" }, sources, ["local"]);
  if ("problems" in result) throw new Error(result.problems.map(renderDiagnostic).join("\n"));
  const instances = result.plan.instances.map(({ index, id }): InstanceNow => {
    const state = states[id] ?? "upToDate";
    const certain = state !== "uncertain";
    const reason: Reason = certain
      ? { kind: "params-changed", names: ["x"] }
      : { kind: "upstream-runs", stage: "make" };
    const action = state === "upToDate" ? "reuse" : "run";
    return { state, preview: { index, action, certain, reasons: [reason], expectedMs: undefined } };
  });
  return reportAgeWords(reportAge(result.plan, { instances, asGiven }), "pnpm pipeline run test");
}

test("a report is up to date if its publishing stage would be reused and its files are that stage's outputs", () => {
  assert.deepEqual(words({}), ["up to date: a run would change none of these files"]);
  assert.deepEqual(words({}, false), [
    "these files are not the plan's last results: published by an older run, or edited since",
    "  pnpm pipeline run test  publishes them again",
  ]);
});

test("a report is out of date if its members would run, with the first reasons", () => {
  const stale = Object.fromEntries(
    ["a", "b", "c", "d", "e", "f"].map((word) => [`make[word=${word}]`, "stale"]),
  );
  assert.deepEqual(words({ ...(stale as Record<string, InstanceState>), gather: "uncertain" }), [
    "out of date: 6 stale, 1 uncertain",
    ...["a", "b", "c", "d", "e"].map((word) => `  make[word=${word}]  parameters changed: x`),
    "  … and 1 more",
    "  pnpm pipeline run test  updates it",
  ]);
});

test("a page is opened before text, and text before tables", () => {
  assert.equal(readable(["report.csv", "report.html", "report.md"]), "report.html");
  assert.equal(readable(["a.md", "report.csv", "report.md"]), "report.md");
  assert.equal(readable(["all.json", "sums"]), "all.json");
});
