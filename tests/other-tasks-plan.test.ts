// What `other-tasks` plans on official data: what framing.md promises to a submitted program, and one Python for the
// attempt and for the program that it submits.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { withScripted } from "../runners/cli/src/request/scripted-pipeline.ts";
import { executorNames } from "../runners/cli/src/run/executors.ts";

const repository = join(import.meta.dirname, "..");
const file = "pipelines/other-tasks.ts";
const sources = await withScripted(repository, file, sourceFiles(repository));

function planOf(profile: string): Plan {
  assert.ok(!("code" in sources), JSON.stringify(sources));
  const loaded = loadPlan({ file, profile, set: {}, executor: undefined }, sources, executorNames);
  assert.ok(!("problems" in loaded), JSON.stringify(loaded, undefined, 1).slice(0, 1000));
  return loaded.plan;
}

const tasks = ["budget-model-training", "budget-model-inference"];
const ofTask = (plan: Plan, task: string) => plan.instances.filter(({ axes }) => axes.task === task);
const runsProgram = ({ action: { run } }: Instance) =>
  run.kind === "python" && run.file === "pipelines/generate/program.py";

/** What framing.md says of the run of a program. */
function promised(task: string) {
  const text = readFileSync(join(repository, `tasks/${task}/framing.md`), "utf8");
  const [, cpus, gigabytes] = /runs on (\d+) CPU cores and one GPU\. .* or (\d+) GB of memory/.exec(text)!;
  return { cpus: Number(cpus), memoryBytes: Number(gigabytes) * 1e9 };
}

for (const profile of ["paper", "paper-sealed", "paper-40gb", "h100-10h", "shakedown"])
  test(`${profile} gives the run of a program the cores, the GPU and the memory that its framing promises`, () => {
    const plan = planOf(profile);
    for (const task of tasks) {
      const { cpus, memoryBytes } = promised(task);
      const runs = ofTask(plan, task).filter(runsProgram);
      assert.deepEqual(
        [...new Set(runs.map(({ stage }) => stage.name))].sort(),
        ["anchor-answers", "generate", "moment-answers"],
        task,
      );
      for (const { id, execution } of runs) {
        assert.deepEqual([execution.resources.cpus, execution.resources.gpus], [cpus, 1], id);
        assert.ok(execution.resources.memoryBytes >= memoryBytes + 1e9, `${id} has no room for the stage`);
        assert.equal(execution.limits.memoryBytes, undefined, "so its memory follows its resources");
      }
    }
  });

for (const [profile, lock] of [
  ["smoke", "ml"],
  ["paper", "images"],
] as const)
  test(`in ${profile} an attempt, the run of its program and all that opens it have the Python of ${lock}.lock`, () => {
    const plan = planOf(profile);
    const lockOf = ({ environment }: Instance) =>
      environment === undefined ? undefined : plan.instances[environment]!.action.params.lock;
    for (const task of tasks) {
      const pythons = Map.groupBy(ofTask(plan, task), ({ stage }) => stage.name);
      for (const name of ["attempt", "generate", "moment-answers", "load", "identity", "anchor-models"])
        assert.deepEqual(
          [...new Set(pythons.get(name)!.map(lockOf))],
          [`pipelines/environments/${lock}.lock`],
          name,
        );
    }
  });
