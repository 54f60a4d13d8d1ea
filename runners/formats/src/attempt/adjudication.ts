// A person's decision on a rule for one attempt. Lines of attempts/adjudications.jsonl hold them, and so does
// adjudications.jsonl in an archive of records. Lines are only added; the record and its verdict stay as they are.

import * as t from "../schema.ts";
import { archiveSource, memberOrigin } from "./record-origin.ts";

/** Longer texts would hide the tables that print them. */
export const nameMax = 80;
export const reasonMax = 1000;

const decided = {
  rule: t.about({ ...t.text, maxLength: nameMax }, "a rule of the attempt's task, or RUBRIC.QUESTION"),
  verdict: t.oneOf("pass", "fail"),
  by: t.about({ ...t.text, maxLength: nameMax }, "the person, as typed; not checked"),
  reason: { ...t.text, maxLength: reasonMax },
} as const;

export const adjudication = t.fileFormat(
  "mlrb decision of a person on a rule",
  t.wholeExcept(["origin", "preferred"], {
    formatVersion: { const: 1 },
    decidedAt: t.text,
    record: t.about(t.sha256, "the record of the attempt"),
    ...decided,
    origin: t.about(
      t.wholeObject(archiveSource),
      "where an imported decision came from; absent: made on this machine",
    ),
    preferred: t.about(
      t.flag,
      "whether a person here gave an imported decision the weight of one that was made here",
    ),
  }),
);
export type Adjudication = t.TypeOf<typeof adjudication>;

/** What manifests and reports keep of it: no clock, and nothing that differs between machines with the same list. */
export const memberDecision = t.wholeExcept(["origin"], {
  ...decided,
  counts: t.about(t.flag, "whether it is the decision that the tables use for its rule"),
  origin: t.about(memberOrigin, "of a decision that another machine made; absent: made here"),
});
export type MemberDecision = t.TypeOf<typeof memberDecision>;
