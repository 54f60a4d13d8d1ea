// Measures the five GPT-2 models whose values upstream publishes for its agent-eval, and fails where they differ. A
// program, since it takes one stage of the full benchmark: the download of a source at the commit and digests of the lock.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

const full = parse(readFileSync(join(import.meta.dirname, "full-benchmark.yaml"), "utf8"));
const { keyed: _, ...download } = full.stages.download;

export default {
  formatVersion: 1,
  name: "reference-points",
  title: "Reference points of agent-eval",
  axes: { source: ["wikitext-2", "gpt2-xs", "gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl"] },
  profiles: {
    gpu: { default: true, stages: { points: { resources: { gpus: 1 } } } }, // as upstream measured
    cpu: {}, // parameters and perplexity do not depend on the device; hours
  },
  stages: {
    download: { ...download, each: ["source"] },
    points: {
      collect: ["download.files"],
      python: "scorers/agent-eval/reference_points.py",
      files: ["scorers/agent-eval/reference-points.yaml"],
      environment: download.environment,
      hostSensitive: true,
      network: "none",
      resources: { cpus: 1, memory: "16GiB" },
      gives: { points: { file: "points.json" } },
      releases: ["points"], // numbers
      limits: { time: "24h" },
    },
  },
};
