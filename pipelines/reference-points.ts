// Measures the five GPT-2 models whose values upstream publishes for its agent-eval, and fails where they differ.
const environment = "pipelines/environments/ml.lock";

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
    download: {
      each: ["source"],
      python: "pipelines/steps/download.py",
      environment,
      params: { locked: "{source.locked}" }, // the commit and digests of sources.lock.yaml
      hub: true,
      secrets: ["HF_TOKEN"],
      gives: { files: { dir: true, private: true } },
      network: "full",
      limits: { time: null },
    },
    points: {
      collect: ["download.files"],
      python: "scorers/agent-eval/reference_points.py",
      files: ["scorers/agent-eval/reference-points.yaml"],
      environment,
      hostSensitive: true,
      network: "none",
      resources: { cpus: 1, memory: "16GiB" },
      gives: { points: { file: "points.json" } },
      releases: ["points"], // numbers
      limits: { time: "24h" },
    },
  },
};
