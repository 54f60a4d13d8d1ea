// Where and within which limits a stage runs, as pipelines, their defaults, profiles and stages say it.
import * as t from "../schema.ts";

const size = { ...t.text, format: "size" } as const;

export const execution = {
  executor: t.about(
    t.text,
    "Where it runs: local, docker or slurm; for an untrusted stage, its sandbox: local or docker.",
  ),
  image: t.about(
    t.text,
    "The image of its containers: a Dockerfile, name@sha256:…, or host for this host's own programs; in the action key.",
  ),
  network: t.about(
    t.oneOf("none", "full", "hub"),
    "The network that its processes can reach. hub, for an untrusted stage: downloads through the supervisor's gateway, and nothing else. Outside the action key, except full and hub of an attempt.",
  ),
  resources: t.about(
    t.partialObject({
      cpus: t.about({ type: "number", exclusiveMinimum: 0 }, "Number of CPUs, also a part of one."),
      memory: t.about(size, "With a unit, e.g. 64GiB."),
      gpus: t.about(t.count, "Number of whole GPUs."),
      gpuMemory: t.about(
        size,
        "For an untrusted stage with GPUs: memory of each that a program should use, e.g. 40GB. Cooperative: torch's allocator keeps it, a program can lift it. Part of the attempt's key.",
      ),
      pools: t.about(t.tableOf(t.count), 'Its share of pools, e.g. { "api:{agent.provider}": 1 }.'),
    }),
    "Resources that it holds while it runs; outside the action key.",
  ),
  limits: t.about(
    t.partialObject({
      time: t.about(
        t.orNull(t.duration),
        "Until its processes have ended, with a unit, e.g. 24h. Ingesting its outputs is not counted. null: no limit.",
      ),
      memory: t.about(size, "Of its whole process tree, e.g. 8GiB."),
      processes: t.about(
        t.positiveInteger,
        "Maximum number of processes and threads of an untrusted program.",
      ),
      disk: t.about(size, "Maximum disk usage of an untrusted program, e.g. 100GiB."),
      providerWait: t.about(
        t.duration,
        "How long an attempt waits without an answer from its provider (default: 1h).",
      ),
      operatorWait: t.about(
        t.duration,
        "How long an attempt waits for a person to fix a key, a quota or a model's name (default: 72h).",
      ),
    }),
    "Limits at which it is stopped as failed; outside the action key.",
  ),
  slurm: t.about(
    t.partialObject({
      partition: t.about(t.text, "Default: that of the cluster."),
      account: t.about(t.text, "The account that is charged."),
      qos: t.about(t.text, "Quality of service; default: the account's."),
      gres: t.about(t.text, "What Slurm calls a GPU there, e.g. gpu:a100; default: gpu."),
      constraint: t.about(t.text, "Features that its node must have, e.g. a100&nvme."),
    }),
    "How its job is submitted with `executor: slurm`. CPUs, memory and GPUs come from its resources, the time from its limits. Outside the action key.",
  ),
} as const;

/** Of one stage, also in a profile. */
export const stageExecution = {
  ...execution,
  budget: t.about(
    t.partialObject({
      time: t.about(t.duration, "Of an attempt, with a unit, e.g. 24h."),
      tokens: t.about({ type: ["integer", "string"], minimum: 1 }, "Input and output of all model calls."),
      dollars: t.about({ type: ["number", "string"], exclusiveMinimum: 0 }, "Of all model calls."),
      dollarsPerMachineHour: t.about(
        { type: ["number", "string"], exclusiveMinimum: 0 },
        "The stated price of a GPU hour, or of a machine hour without a GPU. Counts only for agents with an allowance of dollars.",
      ),
    }),
    "The budget; in the action key.",
  ),
  startBy: t.about(
    t.eitherType(t.text, { ...t.list, minItems: 1, uniqueItems: true }),
    "Axes of the stage. Its instances start in the order of the first one's values, then of the next one's, and in a random order that never changes among those of equal values. So a partial run is balanced over the other axes. Outside the action key.",
  ),
} as const;
