// The order in which the smoke benchmark runs on two cores, played through the scheduler with the declared times.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import { step } from "@mlrb/core/schedule/schedule";
import { type Event, initialState } from "@mlrb/core/schedule/schedule-state";
import { startOrder } from "@mlrb/core/schedule/start-order";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { workOf } from "@mlrb/local/run/work-of";
import type { Workspace } from "@mlrb/local/store/workspace";

const loaded = loadPlan(
  { file: "pipelines/full-benchmark.yaml", set: {} },
  sourceFiles(join(import.meta.dirname, "..")),
  ["local", "docker", "slurm"],
);
assert.ok("plan" in loaded);
const { plan } = loaded;

/** When each instance started and ended, in ms, by its index; `slower` multiplies the times of a stage. */
function played(slower: (stage: string) => number): { start: number; end: number }[] {
  const position = new Map(plan.instances.map(({ index }) => [index, index]));
  const workspace = { last: { get: () => undefined } } as unknown as Workspace;
  const starts = startOrder(plan.pipeline, plan.instances);
  const works = plan.instances.map((one) => workOf(one, { plan, position, starts, workspace }));
  const capacity = { cpus: 2, memoryBytes: 64 * 2 ** 30, gpus: 0, pools: plan.pools };
  let state = initialState(works, { capacity, failFast: false });
  const times: { start: number; end: number }[] = [];
  let now = 0;
  const running: { index: number; end: number }[] = [];
  const send = (event: Event) => {
    const queue = [event];
    for (let next = queue.shift(); next; next = queue.shift()) {
      const result = step(state, next);
      state = result.state;
      for (const command of result.commands)
        if (command.kind === "decide") queue.push({ kind: "decided", index: command.index, decision: "run" });
        else if (command.kind === "start") {
          const { index } = command;
          const { name } = plan.instances[index]!.stage;
          const end = now + plan.takesMs[name]! * slower(name);
          times[index] = { start: now, end };
          running.push({ index, end });
        }
    }
  };
  send({ kind: "begin" });
  while (running.length > 0) {
    running.sort((a, b) => b.end - a.end || b.index - a.index);
    const { index, end } = running.pop()!;
    now = end;
    send({ kind: "ended", index, outcome: { kind: "succeeded" } });
  }
  assert.ok(state.finished);
  return times;
}

const tasks = [...new Set(plan.instances.flatMap(({ axes }) => axes.task ?? []))];

for (const [how, slower] of [
  ["as declared", () => 1],
  ["with attempts of three times their length", (stage) => (stage === "attempt" ? 3 : 1)],
  ["with checks and scores of twice their length", (stage) => (stage === "attempt" ? 1 : 2)],
] as [string, (stage: string) => number][])
  test(`${how}, each task is judged and scored before the second seed of a later task starts`, () => {
    const times = played(slower);
    const of = (task: unknown, role: string, seed?: number) =>
      plan.instances
        .filter(
          ({ axes, stage }) => axes.task === task && stage.role === role && (!seed || axes.seed === seed),
        )
        .map(({ index }) => times[index]!);
    const seeded = tasks.filter((task) => of(task, "attempt", 2).length > 0);
    assert.equal(seeded.length, 5);
    for (const task of seeded.filter((task) => task !== tasks[0])) {
      const before = tasks.slice(0, tasks.indexOf(task));
      const judged = before.flatMap((one) =>
        [...of(one, "score"), ...of(one, "verdict")].map(({ end }) => end),
      );
      const second = of(task, "attempt", 2).map(({ start }) => start);
      assert.equal(second.length, 2);
      assert.ok(
        Math.max(...judged) <= Math.min(...second),
        `${before.at(-1)} ${Math.max(...judged)} ${task} ${second}`,
      );
    }
    const whole = Math.max(...times.map(({ end }) => end));
    const first = Math.max(...of(tasks[0], "score").map(({ end }) => end));
    assert.ok(first < whole / 3, `the first task is scored at ${first} of ${whole}`);
    const work = times.reduce((sum, { start, end }) => sum + end - start, 0);
    const alone = 90_000 * slower("environment"); // while the environment is built, little else can run
    assert.ok(whole < 1.05 * (work / 2 + alone / 2), `both cores are in use: ${whole} for ${work} of work`);
  });
