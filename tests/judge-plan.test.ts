// What full-benchmark plans of judges: nothing by default, blind stages where a run names one, and reruns of no more
// than what a change of a rubric, a judge or votes touches.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import type { Plan } from "@mlrb/core/plan/plan";
import type { Selection } from "@mlrb/core/plan/resolve-axes";
import type { Sources } from "@mlrb/core/spec/manifest";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { executorNames } from "../runners/cli/src/run/executors.ts";

const disk = sourceFiles(join(import.meta.dirname, ".."));
const pipeline = "pipelines/full-benchmark.yaml";

const rubric = (name: string, more: { title?: string; definition?: string } = {}) => `formatVersion: 1
name: ${name}
title: ${more.title ?? name}
about: Written for a test.
questions:
  - id: cited
    text: Was a paper cited?
    definition: ${more.definition ?? "A paper is cited if its name is written."}
    examples:
      - { text: It names a paper., answer: "yes", because: A name. }
      - { text: It names none., answer: "no", because: No name. }
`;
const rubrics = {
  "pipelines/judges/conduct.yaml": rubric("conduct"),
  "pipelines/judges/research.yaml": rubric("research"),
};

type Asked = { profile?: string; set?: Selection; files?: Record<string, string> };

function planOf({ profile = "smoke", set = {}, files = {} }: Asked = {}): Plan {
  const all: Record<string, string> = { ...rubrics, ...files };
  const steps = ["pipelines/steps/extract.ts", "pipelines/steps/ask.ts"];
  const sources: Sources = {
    ...disk,
    read: (path) => all[path] ?? disk.read(path),
    kind: (path) => (path in all || steps.includes(path) ? "file" : disk.kind(path)),
  };
  const loaded = loadPlan({ file: pipeline, profile, set, executor: undefined }, sources, executorNames);
  assert.ok(!("problems" in loaded), JSON.stringify(loaded, undefined, 1).slice(0, 1000));
  return loaded.plan;
}

const named = (plan: Plan, stage: string) => plan.instances.filter((one) => one.stage.name === stage);
const judged = { task: ["baby-lm"], judge: ["gpt-4o", "claude-3-5-sonnet"] };

/** The ids of what `after` runs once `before` has run: new or other actions, and what reads these. */
function reruns(before: Plan, after: Plan): string[] {
  const known = new Map(before.instances.map(({ id, action }) => [id, JSON.stringify(action)]));
  const running = new Set<number>();
  for (const { index, id, action, inputs, members } of after.instances)
    if (
      known.get(id) !== JSON.stringify(action) ||
      [...inputs, ...members].some(({ from }) => running.has(from))
    )
      running.add(index);
  return [...running].map((index) => after.instances[index]!.id);
}
const stagesOf = (ids: string[]) => Object.groupBy(ids, (id) => id.replace(/\[.*/, ""));
const counts = (ids: string[]) =>
  Object.fromEntries(Object.entries(stagesOf(ids)).map(([stage, all]) => [stage, all!.length]));

test("no profile names a judge: nothing is extracted or asked, and the report has no member of these", () => {
  for (const profile of ["smoke", "paper"]) {
    const plan = planOf({ profile });
    assert.deepEqual([named(plan, "extract"), named(plan, "ask")], [[], []], profile);
    assert.ok(plan.stages.some(({ role }) => role === "answers-of-judge"));
    assert.equal(named(plan, "report").length, 1);
  }
});

test("a named judge answers each rubric about each attempt, whose text is extracted once for all judges", () => {
  const plan = planOf({ set: judged });
  const attempts = named(plan, "attempt").length;
  assert.equal(named(plan, "extract").length, attempts);
  const asks = named(plan, "ask");
  assert.equal(asks.length, attempts * 2 * 2);
  const [report] = named(plan, "report");
  assert.equal(
    report!.members.filter(({ from }) => asks.some(({ index }) => index === from)).length,
    asks.length,
  );
  for (const { id, axes, action, execution } of asks) {
    const isOpenAi = axes.judge === "gpt-4o";
    assert.deepEqual(action.secrets, [isOpenAi ? "OPENAI_API_KEY" : "ANTHROPIC_API_KEY"], id);
    assert.deepEqual(execution.resources.pools, { [isOpenAi ? "api:openai" : "api:anthropic"]: 1 }, id);
    assert.equal(execution.network, "full");
  }
});

test("what a judge is asked names no task and no agent, and its text is extracted without axes", () => {
  const plan = planOf({ set: judged });
  for (const { id, stage, action } of named(plan, "ask")) {
    assert.deepEqual(stage.keyed, ["judge", "rubric"]);
    assert.doesNotMatch(JSON.stringify(action), /baby-lm|script-weak|script-strong/, id);
  }
  const [extract] = named(plan, "extract");
  assert.deepEqual(extract!.stage.keyed, []);
  assert.equal(extract!.execution.network, "none");
});

test("a change of a question, a judge or votes reruns the asks that it touches and the report, nothing else", () => {
  const before = planOf({ set: judged });
  const attempts = named(before, "attempt").length;
  const after = (asked: Asked) => counts(reruns(before, planOf({ set: judged, ...asked })));
  assert.deepEqual(after({}), {});
  const question = rubric("conduct", { definition: "A paper is cited if it is linked." });
  assert.deepEqual(after({ files: { "pipelines/judges/conduct.yaml": question } }), {
    ask: attempts * 2,
    report: 1,
  });
  const title = rubric("conduct", { title: "Another title" });
  assert.deepEqual(after({ files: { "pipelines/judges/conduct.yaml": title } }), {});
  const votes = disk.read(pipeline)!.replace("votes: 3", "votes: 5");
  assert.deepEqual(after({ files: { [pipeline]: votes } }), { ask: attempts * 4, report: 1 });
  const preset = "runners/agents/presets/gpt-4o.yaml";
  const warmer = disk.read(preset)!.replace("contextTokens: 128000", "temperature: 1, contextTokens: 128000");
  assert.deepEqual(after({ files: { [preset]: warmer } }), { ask: attempts * 2, report: 1 });
  const another = { ...judged, judge: ["gpt-4o", "claude-3-5-sonnet", "gpt-6-2-sol"] };
  assert.deepEqual(after({ set: another }), { ask: attempts * 2, report: 1 });
});

test("a recorded judge's answers are in the keys of its asks, and of no other judge's", () => {
  const plan = planOf({ set: { ...judged, judge: ["sample-judge", "gpt-4o"] } });
  for (const { id, axes, action } of named(plan, "ask")) {
    const own = axes.judge === "sample-judge" ? ["pipelines/judges/recorded/authored-sample/**"] : [];
    assert.deepEqual(action.files, own, id);
  }
});
