// The two official tasks that the paper leaves out. Their submission is a program, so three stages differ from those of the
// full benchmark: two copy a program's files instead of a model's, and one runs the program (ADR 63). Each task has one
// Python for each kind of data, in attempts too, since the program runs with it later (ADR 67). A program, since it takes
// the rest of these stages as they are there.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

const benchmark = parse(readFileSync(join(import.meta.dirname, "full-benchmark.yaml"), "utf8"));
const environment = "{task.environment.{params.data}}";
const stages = Object.fromEntries(
  Object.entries<{ environment?: string }>(benchmark.stages).map(([name, stage]) => [
    name,
    stage.environment === "{task.environment}" ? { ...stage, environment } : stage,
  ]),
);
const { attempt, validate, moment, generate } = benchmark.stages;
// no text of the mini benchmark is for these tasks
const { mini: _, ...profiles } = benchmark.profiles;
const { paper, rehearsal, shakedown } = profiles;
const task = ["budget-model-training", "budget-model-inference"];

/** The profile with other resources for the run of a program. */
function withProgram(profile: { stages: Record<string, { resources: object }> }, resources: object) {
  const { generate } = profile.stages;
  const own = { ...generate, resources: { ...generate!.resources, ...resources } };
  return { ...profile, stages: { ...profile.stages, generate: own } };
}

export default {
  ...benchmark,
  name: "other-tasks",
  title: "ML Research Benchmark, other official tasks",
  axes: { ...benchmark.axes, task },
  profiles: {
    ...profiles,
    // what framing.md promises; the memory is its 32 GB and some for the stage itself
    paper: withProgram(paper, { cpus: 4, memory: "36GB" }),
    rehearsal: withProgram(rehearsal, { cpus: 1, memory: "4GiB" }), // its machine has no more
    shakedown: { ...shakedown, axes: { ...shakedown.axes, task } }, // else the task of the full benchmark
  },
  stages: {
    ...stages,
    attempt: { ...attempt, environment },
    validate: { ...validate, script: "pipelines/steps/validate-program.ts" },
    moment: { ...moment, script: "pipelines/steps/moment-program.ts" },
    generate: { ...generate, environment, programs: true, hostSensitive: true }, // scores of time and memory are its own
  },
};
