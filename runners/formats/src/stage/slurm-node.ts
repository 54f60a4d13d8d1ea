// What a node of a cluster has, as a job of `pipeline doctor` finds it there.
import {
  anyText,
  count,
  flag,
  listOf,
  nullable,
  type TypeOf,
  text,
  textOrNull,
  wholeObject,
} from "../schema.ts";

const tried = wholeObject({
  kind: text,
  missing: { ...textOrNull, description: "why it cannot isolate anything there; null if it can" },
});

export const slurmNode = wholeObject({
  formatVersion: { const: 1 },
  host: anyText,
  /** As in the keys of stages whose digits depend on it. */
  processor: anyText,
  python: { ...textOrNull, description: "the version of the Python at the path of the host that submits" },
  namespaces: wholeObject({ network: flag, readOnly: flag }),
  walls: {
    ...listOf(tried),
    description:
      "what isolates stages that open agents' files, in the order of preference, up to the first that can",
  },
  containers: {
    ...listOf(tried),
    description: "as well, of other stages with an image than attempts; empty without one",
  },
  sandboxes: {
    ...listOf(tried),
    description: "programs that isolate agents, in the order of preference, up to the first that can",
  },
  temporaryBytes: { ...count, description: "free for temporary files" },
  gpus: nullable(listOf(anyText)),
  clockMs: { ...count, description: "its clock, in milliseconds since 1970" },
});
export type SlurmNode = TypeOf<typeof slurmNode>;
