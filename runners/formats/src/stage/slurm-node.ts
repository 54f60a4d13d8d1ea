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

export const slurmNode = wholeObject({
  formatVersion: { const: 1 },
  host: anyText,
  /** As in the keys of stages whose digits depend on it. */
  processor: anyText,
  python: { ...textOrNull, description: "the version of the Python at the path of the host that submits" },
  namespaces: wholeObject({ network: flag, readOnly: flag }),
  noWalls: { ...textOrNull, description: "why stages that open agents' files get no walls there" },
  sandboxes: {
    ...listOf(
      wholeObject({
        kind: text,
        missing: { ...textOrNull, description: "why it cannot isolate agents there; null if it can" },
      }),
    ),
    description: "programs that isolate agents, in the order of preference, up to the first that can",
  },
  temporaryBytes: { ...count, description: "free for temporary files" },
  gpus: nullable(listOf(anyText)),
  clockMs: { ...count, description: "its clock, in milliseconds since 1970" },
});
export type SlurmNode = TypeOf<typeof slurmNode>;
