// The format of a stage's context: the JSON file, named in MLRB_STAGE, that says to a stage script what it is asked
// to do. Readers: kit's stage.ts and mlrb_kit/stage.py.
import {
  count,
  fileFormat,
  flag,
  json,
  list,
  listOf,
  oneOf,
  openObject,
  type TypeOf,
  tableOf,
  text,
} from "../schema.ts";

const amount = { type: "number", minimum: 0 } as const;

const gpu = openObject(
  {
    index: count,
    uuid: text,
    model: { type: "string" },
    memoryBytes: amount,
    driver: { type: "string" },
    slice: { ...flag, description: "a slice of a GPU that is divided (MIG)" },
  },
  ["index", "uuid", "model", "memoryBytes", "driver", "slice"],
);

const sandbox = {
  ...openObject(
    {
      executor: { ...text, description: "local: walls of this host; docker: containers" },
      image: { ...text, description: "of containers; absent for this host's own programs" },
      network: oneOf("none", "full"),
      limits: openObject({ memoryBytes: amount, processes: amount, diskBytes: amount, cpus: amount }, [
        "memoryBytes",
        "processes",
        "diskBytes",
        "cpus",
      ]),
      reads: { ...list, description: "host folders that its programs read at their own paths" },
      gpus: listOf(gpu),
      unsafe: {
        ...flag,
        description: "whether a person said that untrusted programs may run without walls",
      },
      token: { ...text, description: "marks what belongs to it on the host" },
    },
    ["executor", "network", "limits", "reads", "gpus", "unsafe", "token"],
  ),
  description: "of an untrusted stage: what is to hold the programs it starts",
} as const;

export const stageContext = fileFormat(
  "mlrb stage context",
  openObject(
    {
      formatVersion: { const: 1 },
      stage: {
        ...text,
        description: "the instance, e.g. score[task=baby-lm,agent=minimal,seed=1,scorer=house-pairs]",
      },
      axes: {
        ...tableOf({ type: ["string", "number"] }),
        description: "axis values that the stage is keyed on; a stage is blind to the others",
      },
      params: tableOf(json),
      inputs: {
        ...tableOf(text),
        description: "absolute path of each input, by its name (public for data.public); read only",
      },
      outputs: {
        ...tableOf(text),
        description: "absolute path to write each output to; folders exist and are empty, files do not exist",
      },
      files: {
        ...list,
        description: "patterns of the repository files that it declared, relative to the root",
      },
      sources: {
        ...list,
        description: "the files that these patterns name, from the root, in order; absent by hand",
      },
      budget: {
        ...openObject({ timeMs: amount, tokens: amount, dollars: amount }, []),
        description: "where it declares one: time in ms, tokens and dollars of model calls",
      },
      waits: {
        ...openObject({ providerMs: amount, operatorMs: amount }, []),
        description:
          "how long it may wait for what is not its own doing, where the pipeline says so (limits)",
      },
      sandbox,
    },
    ["formatVersion", "stage", "axes", "params", "inputs", "outputs", "files", "budget"],
  ),
);

export type StageContext = TypeOf<typeof stageContext>;
export type SandboxRequest = TypeOf<typeof sandbox>;
