// The format of a stage's context: the JSON file, named in MLRB_STAGE, with the inputs, outputs and parameters of a
// stage script. Readers: kit's stage.ts and mlrb_kit/stage.py.
import {
  amount,
  count,
  fileFormat,
  flag,
  json,
  list,
  listOf,
  oneOf,
  openObject,
  sha256,
  type TypeOf,
  tableOf,
  text,
  wholeExcept,
  wholeObject,
} from "../schema.ts";

const gpu = wholeObject({
  index: count,
  uuid: text,
  model: { type: "string" },
  memoryBytes: amount,
  driver: { type: "string" },
  slice: { ...flag, description: "a slice of a partitioned GPU (MIG)" },
});

const sandbox = {
  ...wholeExcept(["image", "environment", "weakLimits"], {
    executor: { ...text, description: "local: bubblewrap on this host; docker: containers" },
    image: { ...text, description: "image of containers; absent for this host's own programs" },
    environment: {
      ...wholeExcept(["interpreter"], {
        path: text,
        interpreter: { ...text, description: "the folder of its interpreter; absent if /usr holds it" },
        lock: { ...sha256, description: "of its lock file" },
      }),
      description: "the Python environment among reads",
    },
    network: oneOf("none", "full", "hub"),
    limits: wholeExcept(["gpuMemoryBytes"], {
      memoryBytes: amount,
      processes: amount,
      diskBytes: amount,
      cpus: amount,
      gpuMemoryBytes: { ...amount, description: "of each GPU; cooperative; absent: all of it" },
    }),
    reads: { ...list, description: "host folders that its programs can read, at the same paths" },
    gpus: listOf(gpu),
    unsafe: {
      ...flag,
      description: "whether a person allowed untrusted programs to run without a sandbox",
    },
    weakLimits: {
      ...flag,
      description: "whether a person allowed untrusted programs whose memory limit is only polled",
    },
    token: { ...text, description: "marks its processes and containers on the host" },
  }),
  description: "for an untrusted stage: the sandbox of the programs that it starts",
} as const;

export const stageContext = fileFormat(
  "mlrb stage context",
  wholeExcept(["sources", "waits", "limits", "sandbox", "secretSeed"], {
    formatVersion: { const: 1 },
    stage: {
      ...text,
      description: "the instance, e.g. score[task=baby-lm,agent=minimal,seed=1,scorer=house-pairs]",
    },
    axes: {
      ...tableOf({ type: ["string", "number"] }),
      description: "axis values in the stage's key; the others are hidden from it",
    },
    params: tableOf(json),
    inputs: {
      ...tableOf(text),
      description: "absolute path of each input by name (public for data.public); read only",
    },
    outputs: {
      ...tableOf(text),
      description: "absolute path of each output; folders exist and are empty, files do not exist",
    },
    files: {
      ...list,
      description: "patterns of its declared repository files, relative to the root",
    },
    sources: {
      ...list,
      description:
        "the files that match these patterns, relative to the root, in order; absent when run by hand",
    },
    budget: {
      ...openObject({ timeMs: amount, tokens: amount, dollars: amount }, []),
      description: "if it declares one: time in ms, tokens and dollars of model calls",
    },
    waits: {
      ...openObject({ providerMs: amount, operatorMs: amount }, []),
      description: "how long it may wait for its provider or a person, if the pipeline sets limits",
    },
    limits: {
      ...openObject({ timeMs: amount, memoryBytes: amount }, []),
      description: "of a stage that opens what untrusted code made: it must judge before it reaches them",
    },
    sandbox,
    secretSeed: {
      ...sha256,
      description:
        "for a stage that declares it: made from the state folder's secret and the action key, so equal actions get an equal one here and another elsewhere",
    },
  }),
);

export type StageContext = TypeOf<typeof stageContext>;
export type SandboxRequest = TypeOf<typeof sandbox>;
