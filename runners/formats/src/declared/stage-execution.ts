// Where and within which limits a stage runs, as pipelines, their defaults, profiles and stages say it.
import { count, duration, oneOf, orNull, partialObject, tableOf, text } from "../schema.ts";

const size = { ...text, format: "size" } as const;

export const execution = {
  executor: {
    ...text,
    description:
      "Where it runs: local, docker or slurm; for an untrusted stage, its sandbox: local or docker.",
  },
  image: {
    ...text,
    description:
      "The image of its containers: a Dockerfile, name@sha256:…, or host for this host's own programs; in the action key.",
  },
  network: {
    ...oneOf("none", "full", "hub"),
    description:
      "The network that its processes can reach. hub, for an untrusted stage: downloads through the supervisor's gateway, and nothing else. Outside the action key, except full and hub of an attempt.",
  },
  resources: {
    ...partialObject({
      cpus: {
        type: "number",
        exclusiveMinimum: 0,
        description: "Number of CPUs, also a part of one.",
      },
      memory: { ...size, description: "With a unit, e.g. 64GiB." },
      gpus: { ...count, description: "Number of whole GPUs." },
      gpuMemory: {
        ...size,
        description:
          "For an untrusted stage with GPUs: memory of each that a program should use, e.g. 40GB. Cooperative: torch's allocator keeps it, a program can lift it. Part of the attempt's key.",
      },
      pools: {
        ...tableOf(count),
        description: 'Its share of pools, e.g. { "api:{agent.provider}": 1 }.',
      },
    }),
    description: "Resources that it holds while it runs; outside the action key.",
  },
  limits: {
    ...partialObject({
      time: {
        ...orNull(duration),
        description:
          "Until its processes have ended, with a unit, e.g. 24h. Ingesting its outputs is not counted. null: no limit.",
      },
      memory: { ...size, description: "Of its whole process tree, e.g. 8GiB." },
      processes: {
        type: "integer",
        minimum: 1,
        description: "Maximum number of processes and threads of an untrusted program.",
      },
      disk: { ...size, description: "Maximum disk usage of an untrusted program, e.g. 100GiB." },
      providerWait: {
        ...duration,
        description: "How long an attempt waits without an answer from its provider (default: 1h).",
      },
      operatorWait: {
        ...duration,
        description:
          "How long an attempt waits for a person to fix a key, a quota or a model's name (default: 72h).",
      },
    }),
    description: "Limits at which it is stopped as failed; outside the action key.",
  },
  slurm: {
    ...partialObject({
      partition: { ...text, description: "Default: that of the cluster." },
      account: { ...text, description: "The account that is charged." },
      qos: { ...text, description: "Quality of service; default: the account's." },
      gres: { ...text, description: "What Slurm calls a GPU there, e.g. gpu:a100; default: gpu." },
      constraint: { ...text, description: "Features that its node must have, e.g. a100&nvme." },
    }),
    description:
      "How its job is submitted with `executor: slurm`. CPUs, memory and GPUs come from its resources, the time from its limits. Outside the action key.",
  },
} as const;

/** Of one stage, also in a profile. */
export const stageExecution = {
  ...execution,
  budget: {
    ...partialObject({
      time: { ...duration, description: "Of an attempt, with a unit, e.g. 24h." },
      tokens: {
        type: ["integer", "string"],
        minimum: 1,
        description: "Input and output of all model calls.",
      },
      dollars: { type: ["number", "string"], exclusiveMinimum: 0, description: "Of all model calls." },
    }),
    description: "The budget; in the action key.",
  },
  startBy: {
    ...text,
    description:
      "An axis of the stage. Its instances start in the order of this axis' values, and in a random order that never changes among those of one value. So a partial run is balanced over the other axes. Outside the action key.",
  },
} as const;
