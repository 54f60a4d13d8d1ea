// A pipeline as a program: it exports what a YAML file would hold, and may compute it. This one is the full benchmark
// on one task with eight seeds. Every command loads it again, since what it looks at is not known.
export default {
  formatVersion: 1,
  name: "more-seeds",
  title: "ML Research Benchmark, one task with more seeds",
  extends: "full-benchmark",
  axes: { task: ["baby-lm"], seed: Array.from({ length: 8 }, (_, at) => at + 1) },
};
