// What a node of a cluster has, as a job of `pipeline doctor` finds it there.
import { anyText, count, flag, listOf, nullable, type TypeOf, textOrNull, wholeObject } from "../schema.ts";

export const slurmNode = wholeObject({
  formatVersion: { const: 1 },
  host: anyText,
  /** As in the keys of stages whose digits depend on it. */
  processor: anyText,
  python: { ...textOrNull, description: "the version of the Python at the path of the host that submits" },
  namespaces: wholeObject({ network: flag, readOnly: flag }),
  walls: {
    ...textOrNull,
    description: "why stages that open agents' files can have no walls there; null if they can",
  },
  sandbox: { ...textOrNull, description: "why no agent can be isolated there; null if one can" },
  temporaryBytes: { ...count, description: "free for temporary files" },
  gpus: nullable(listOf(anyText)),
  clockMs: { ...count, description: "its clock, in milliseconds since 1970" },
});
export type SlurmNode = TypeOf<typeof slurmNode>;
