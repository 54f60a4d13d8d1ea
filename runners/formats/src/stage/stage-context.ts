// The format of a stage's context: the JSON file, named in MLRB_STAGE, with the inputs, outputs and parameters of
// a stage script. Readers: kit's stage.ts and mlrb_kit/stage.py.
import * as t from "../schema.ts";
import { plannedBudget } from "./action.ts";

const gpu = t.wholeObject({
  index: t.count,
  uuid: t.text,
  model: t.anyText,
  memoryBytes: t.amount,
  driver: t.anyText,
  slice: t.about(t.flag, "a slice of a partitioned GPU (MIG)"),
});

const sandbox = t.about(
  t.wholeExcept(["image", "environment", "weakLimits"], {
    executor: t.about(t.text, "local: bubblewrap on this host; docker: containers"),
    image: t.about(t.text, "image of containers; absent for this host's own programs"),
    environment: t.about(
      t.wholeExcept(["interpreter"], {
        path: t.text,
        interpreter: t.about(t.text, "the folder of its interpreter; absent if /usr holds it"),
        lock: t.about(t.sha256, "of its lock file"),
      }),
      "the Python environment among reads",
    ),
    network: t.oneOf("none", "full", "hub"),
    limits: t.wholeExcept(["gpuMemoryBytes"], {
      memoryBytes: t.amount,
      processes: t.amount,
      diskBytes: t.amount,
      cpus: t.amount,
      gpuMemoryBytes: t.about(t.amount, "of each GPU; cooperative; absent: all of it"),
    }),
    reads: t.about(t.list, "host folders that its programs can read, at the same paths"),
    gpus: t.listOf(gpu),
    unsafe: t.about(t.flag, "whether a person allowed untrusted programs to run without a sandbox"),
    weakLimits: t.about(
      t.flag,
      "whether a person allowed untrusted programs whose memory limit is only polled",
    ),
    token: t.about(t.text, "marks its processes and containers on the host"),
  }),
  "for an untrusted stage: the sandbox of the programs that it starts",
);

export const stageContext = t.fileFormat(
  "mlrb stage context",
  t.wholeExcept(["sources", "waits", "limits", "sandbox", "secretSeed"], {
    formatVersion: { const: 1 },
    stage: t.about(
      t.text,
      "the instance, e.g. score[task=baby-lm,agent=script-weak,seed=1,scorer=house-pairs]",
    ),
    axes: t.about(
      t.tableOf({ type: ["string", "number"] }),
      "axis values in the stage's key; the others are hidden from it",
    ),
    params: t.tableOf(t.json),
    inputs: t.about(
      t.tableOf(t.text),
      "absolute path of each input by name (public for data.public); read only",
    ),
    outputs: t.about(
      t.tableOf(t.text),
      "absolute path of each output; folders exist and are empty, files do not exist",
    ),
    files: t.about(t.list, "patterns of its declared repository files, relative to the root"),
    sources: t.about(
      t.list,
      "the files that match these patterns, relative to the root, in order; absent when run by hand",
    ),
    budget: t.about(plannedBudget, "if it declares one: time in ms, tokens and dollars of model calls"),
    waits: t.about(
      t.openObject({ providerMs: t.amount, operatorMs: t.amount }, []),
      "how long it may wait for its provider or a person, if the pipeline sets limits",
    ),
    limits: t.about(
      t.openObject({ timeMs: t.amount, memoryBytes: t.amount }, []),
      "of a stage that opens what untrusted code made: it must judge before it reaches them",
    ),
    sandbox,
    secretSeed: t.about(
      t.sha256,
      "for a stage that declares it: made from the state folder's secret and the action key, so equal actions get an equal one here and another elsewhere",
    ),
  }),
);

export type StageContext = t.TypeOf<typeof stageContext>;
export type SandboxRequest = t.TypeOf<typeof sandbox>;
