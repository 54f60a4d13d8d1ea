// A pipeline as a program: it exports what a YAML file would hold, and may compute it. This one is the full benchmark
// on one task with eight seeds. Every command loads it again, since what it looks at is not known.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { YAML } from "zx";

const full = YAML.parse(readFileSync(join(import.meta.dirname, "full-benchmark.yaml"), "utf8"));

export default {
  ...full,
  name: "more-seeds",
  title: `${full.title}, one task with more seeds`,
  axes: { ...full.axes, task: ["baby-lm"], seed: Array.from({ length: 8 }, (_, at) => at + 1) },
};
