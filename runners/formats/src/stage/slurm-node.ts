// What a node of a cluster has, as a job of `pipeline doctor` finds it there.
import * as t from "../schema.ts";

export const slurmNode = t.wholeObject({
  formatVersion: { const: 1 },
  host: t.anyText,
  /** As in the keys of stages whose digits depend on it. */
  processor: t.anyText,
  python: t.about(t.textOrNull, "the version of the Python at the path of the host that submits"),
  namespaces: t.wholeObject({ network: t.flag, readOnly: t.flag }),
  walls: t.about(
    t.textOrNull,
    "why stages that open agents' files can have no walls there; null if they can",
  ),
  sandbox: t.about(t.textOrNull, "why no agent can be isolated there; null if one can"),
  temporaryBytes: t.about(t.count, "free for temporary files"),
  gpus: t.nullable(t.listOf(t.anyText)),
  clockMs: t.about(t.count, "its clock, in milliseconds since 1970"),
});
export type SlurmNode = t.TypeOf<typeof slurmNode>;
