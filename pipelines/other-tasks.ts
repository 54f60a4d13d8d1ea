// The two official tasks that the paper leaves out. Their submission is a program, so three stages differ from those of the
// full benchmark: two copy a program's files instead of a model's, and one runs the program (ADR 63). A program, since
// it takes the rest of these stages as they are there.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

const benchmark = parse(readFileSync(join(import.meta.dirname, "full-benchmark.yaml"), "utf8"));
const { validate, moment, generate } = benchmark.stages;
// no text of the mini benchmark is for these tasks
const { mini: _, ...profiles } = benchmark.profiles;
const { shakedown } = profiles;
const task = ["budget-model-training", "budget-model-inference"];

export default {
  ...benchmark,
  name: "other-tasks",
  title: "ML Research Benchmark, other official tasks",
  axes: { ...benchmark.axes, task },
  profiles: {
    ...profiles,
    shakedown: { ...shakedown, axes: { ...shakedown.axes, task } }, // else the task of the full benchmark
  },
  stages: {
    ...benchmark.stages,
    validate: { ...validate, script: "pipelines/steps/validate-program.ts" },
    moment: { ...moment, script: "pipelines/steps/moment-program.ts" },
    generate: { ...generate, programs: true, hostSensitive: true }, // scores of time and memory are its own
  },
};
