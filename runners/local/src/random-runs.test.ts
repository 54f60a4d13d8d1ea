// Random pipelines, edits, failures, interruptions, damage and concurrent runs. A run returns the results of a run
// from scratch, reuse never hides a change, and no action is executed twice.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import type { Plan } from "@mlrb/core/plan/plan";
import type { ExecutionRequest, Executor } from "@mlrb/core/ports/executor";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import { readCollected } from "@mlrb/kit/collected";
import fc from "fast-check";
import type { Result } from "./run/result.ts";
import { startRun } from "./run/run-plan.ts";
import { openWorkspace } from "./store/workspace.ts";
import {
  type Expected,
  edited,
  edits,
  expect,
  given,
  type Pipeline,
  pipelines,
  pipelineText,
} from "./testing/random-pipeline.ts";

const above = mkdtempSync(join(tmpdir(), "mlrb-random-"));
after(() => rmSync(above, { recursive: true, force: true }));
let roots = 0;

/** Does in this process the work of a random pipeline's commands; `turns` returns how long each takes. */
function fakeExecutor(turns: () => number, executed: string[]): Executor {
  return {
    name: "local",
    start(request) {
      let cancelled = false;
      const end = () => {
        cancelled = true;
      };
      return { ended: act(request), askToEnd: end, kill: end };

      async function act({ id, run, inputs, outputs, work }: ExecutionRequest): Promise<ExecutionResult> {
        for (let left = turns(); left > 0; left--) await turn();
        if (cancelled) return { kind: "cancelled" };
        executed.push(id);
        const [, text, , end] = (run as { command: string[] }).command;
        writeFileSync(outputs.out!, "half");
        if (end === "fails") return { kind: "failed", cause: "exit-code", detail: "exit status 1" };
        const read: Record<string, string> = {};
        for (const [name, path] of Object.entries(inputs))
          if (/^n\d+$/.test(name)) read[name] = readFileSync(path, "utf8");
        const { members } = inputs.manifest ? readCollected(inputs.manifest) : { members: [] };
        for (const { stage, outcome, artifacts } of members)
          read[stage] = artifacts.out ? readFileSync(artifacts.out.path!, "utf8") : outcome;
        const { axes } = JSON.parse(readFileSync(join(work, "stage.json"), "utf8")) as { axes: object };
        writeFileSync(outputs.out!, given({ text: text!, axes, read }));
        return { kind: "succeeded" };
      }
    },
  };
}

function planOf(pipeline: Pipeline): Plan {
  const sources = { read: () => pipelineText(pipeline), list: () => [], kind: () => undefined };
  const result = loadPlan({ file: "pipelines/random.yaml" }, sources, ["local"]);
  if ("problems" in result) throw new Error(JSON.stringify(result.problems));
  return result.plan;
}

type Ran = { results: (Result | undefined)[]; contents: (string | undefined)[]; executed: string[] };

type RandomRun = { root: string; plan: Plan; chance: (below: number) => number; interruptAt?: number };

async function run({ root, plan, chance, interruptAt }: RandomRun): Promise<Ran> {
  const workspace = openWorkspace({ repository: root, root, pipeline: plan.pipeline, profile: plan.profile });
  const executed: string[] = [];
  let events = 0;
  const handle = startRun({
    plan,
    selected: plan.instances.map(({ index }) => index),
    workspace,
    executors: { local: async () => fakeExecutor(() => chance(4), executed) },
    jobs: 1 + chance(3),
    failFast: false,
    stale: { kind: "leave" },
    onEvent() {
      if (++events !== interruptAt) return;
      handle.interrupt();
      handle.interrupt();
    },
  });
  const results = await handle.finished;
  const contents = results.map((result) => {
    const kind = result?.outcome.kind;
    if (kind !== "succeeded" && kind !== "reused") return undefined;
    try {
      return workspace.store.textOf(result!.outputs.out!.digest);
    } catch {
      return "damaged since"; // no stage needed the damaged content
    }
  });
  return { results, contents, executed };
}

/** Deterministic numbers from fast-check's values, so that fast-check can shrink them. */
function chances(seeds: number[]): (below: number) => number {
  let at = 0;
  return (below) => (seeds.length === 0 ? 0 : seeds[at++ % seeds.length]! % below);
}

function newRoot(): string {
  const root = join(above, String(++roots));
  mkdirSync(root);
  return root;
}

/** Asserts that each action that works ran once, and each that fails once for each instance that tries it. */
function assertExecuted(plan: Plan, ran: Ran, done: Set<string>, expected: Expected): void {
  const fresh = new Set<string>();
  const fails: string[] = [];
  for (const { index, id } of plan.instances) {
    const key = expected.keys[index];
    if (key === undefined) continue;
    if (expected.fails[index]) fails.push(id);
    else if (!done.has(key)) fresh.add(key);
  }
  const byId = new Map(plan.instances.map(({ id, index }) => [id, index]));
  const worked = ran.executed.filter((id) => !expected.fails[byId.get(id)!]);
  assert.deepEqual(worked.map((id) => expected.keys[byId.get(id)!]).sort(), [...fresh].sort());
  assert.deepEqual(ran.executed.filter((id) => expected.fails[byId.get(id)!]).sort(), fails.sort());
}

const seeds = fc.array(fc.nat({ max: 1000 }), { maxLength: 30 });

test("after any edits a run returns the results of a run from scratch and executes each new action once", async () => {
  await fc.assert(
    fc.asyncProperty(pipelines, fc.array(edits, { maxLength: 5 }), seeds, async (first, changes, numbers) => {
      const chance = chances(numbers);
      const root = newRoot();
      const done = new Set<string>();
      let pipeline = first;
      for (const change of [undefined, ...changes]) {
        if (change) pipeline = edited(pipeline, change);
        const plan = planOf(pipeline);
        const expected = expect(plan);
        const ran = await run({ root, plan, chance });
        assert.deepEqual(ran.contents, expected.contents);
        assertExecuted(plan, ran, done, expected);
        for (const [index, key] of expected.keys.entries()) if (key && !expected.fails[index]) done.add(key);
        const again = await run({ root, plan, chance });
        assert.deepEqual(again.contents, expected.contents);
        assertExecuted(plan, again, done, expected);
      }
      rmSync(root, { recursive: true });
    }),
    { numRuns: 60 },
  );
});

test("a run that was interrupted anywhere is completed by the next, and no ended action is executed again", async () => {
  await fc.assert(
    fc.asyncProperty(
      pipelines,
      fc.array(fc.nat({ max: 40 }), { maxLength: 4 }),
      seeds,
      async (pipeline, stops, numbers) => {
        const chance = chances(numbers);
        const root = newRoot();
        const plan = planOf(pipeline);
        const expected = expect(plan);
        const done = new Set<string>();
        for (const stop of stops) {
          const { results, contents } = await run({ root, plan, chance, interruptAt: stop + 1 });
          for (const [index, result] of results.entries()) {
            if (result?.outcome.kind !== "succeeded" && result?.outcome.kind !== "reused") continue;
            assert.equal(contents[index], expected.contents[index]);
            done.add(expected.keys[index]!);
          }
        }
        const last = await run({ root, plan, chance });
        assert.deepEqual(last.contents, expected.contents);
        assertExecuted(plan, last, done, expected);
        assert.deepEqual(readdirSync(join(root, ".mlrb/work")), []);
        rmSync(root, { recursive: true });
      },
    ),
    { numRuns: 60 },
  );
});

test("concurrent runs on one state folder return the same results and execute each action once in total", async () => {
  await fc.assert(
    fc.asyncProperty(pipelines, seeds, async (pipeline, numbers) => {
      const chance = chances(numbers);
      const root = newRoot();
      const works = { ...pipeline, stages: pipeline.stages.map((one) => ({ ...one, fails: false })) };
      const plan = planOf(works);
      const expected = expect(plan);
      const all = await Promise.all([1, 2, 3].map(() => run({ root, plan, chance })));
      for (const ran of all) assert.deepEqual(ran.contents, expected.contents);
      const executed = all.flatMap((ran) => ran.executed);
      assertExecuted(plan, { ...all[0]!, executed }, new Set(), expected);
      rmSync(root, { recursive: true });
    }),
    { numRuns: 12 },
  );
});

test("missing or damaged contents cost executions, but never produce a wrong result", async () => {
  await fc.assert(
    fc.asyncProperty(
      pipelines,
      fc.array(edits, { minLength: 1, maxLength: 4 }),
      seeds,
      async (first, changes, numbers) => {
        const chance = chances(numbers);
        const root = newRoot();
        let pipeline = first;
        await run({ root, plan: planOf(pipeline), chance });
        for (const change of changes) {
          for (const path of blobs(root)) {
            const how = chance(4);
            if (how < 2) continue;
            const length = statSync(path).size;
            rmSync(path);
            if (how === 2) writeFileSync(path, "x".repeat(length));
          }
          pipeline = edited(pipeline, change);
          const plan = planOf(pipeline);
          const expected = expect(plan);
          const ran = await run({ root, plan, chance });
          for (const [index, content] of ran.contents.entries())
            if (content !== "damaged since") assert.equal(content, expected.contents[index]);
        }
        rmSync(root, { recursive: true });
      },
    ),
    { numRuns: 60 },
  );
});

function blobs(root: string): string[] {
  const folder = join(root, ".mlrb/cache/blobs");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => dirname(path) !== folder && statSync(path).isFile());
}
