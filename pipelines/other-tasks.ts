// The two official tasks that the paper leaves out. Their submission is a program, so three stages differ from those of the
// full benchmark: two copy a program's files instead of a model's, and one runs the program (ADR 63). A program, since
// it takes the rest of these stages as they are there.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

const benchmark = parse(readFileSync(join(import.meta.dirname, "full-benchmark.yaml"), "utf8"));
const { validate, moment, generate } = benchmark.stages;
const { mini, shakedown } = benchmark.profiles;
const task = ["budget-model-training", "budget-model-inference"];

export default {
  formatVersion: 1,
  name: "other-tasks",
  title: "ML Research Benchmark, other official tasks",
  extends: "full-benchmark",
  axes: { task },
  // these name tasks of the full benchmark, whose submissions are models
  profiles: {
    mini: { ...mini, axes: { ...mini.axes, task } },
    shakedown: { ...shakedown, axes: { ...shakedown.axes, task } },
  },
  stages: {
    validate: { ...validate, script: "pipelines/steps/validate-program.ts" },
    moment: { ...moment, script: "pipelines/steps/moment-program.ts" },
    generate: { ...generate, programs: true, hostSensitive: true }, // scores of time and memory are its own
  },
};
