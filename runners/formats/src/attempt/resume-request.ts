// The formats of the socket of an attempt that waits for a person: one JSON line in each direction.
import * as t from "../schema.ts";

export const resumeRequest = t.wholeObject({
  formatVersion: { const: 1 },
  secrets: t.about(t.tableOf(t.text), "new values by name; empty if the old ones are right again"),
});

export const resumeReply = t.kindsOf(
  t.variant("resumed", { calls: t.about(t.count, "calls that are tried again now") }),
  t.variant("refused", { detail: t.anyText }),
);

export type ResumeRequest = t.TypeOf<typeof resumeRequest>;
export type ResumeReply = t.TypeOf<typeof resumeReply>;
