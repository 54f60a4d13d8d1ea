// A pipeline as a program: it exports, and may compute, the contents of a YAML file. This one is the full
// benchmark on one task with eight seeds. Every command runs the program again, since its inputs are unknown.
export default {
  formatVersion: 1,
  name: "more-seeds",
  title: "ML Research Benchmark, one task with more seeds",
  extends: "full-benchmark",
  axes: { task: ["baby-lm"], seed: Array.from({ length: 8 }, (_, at) => at + 1) },
};
