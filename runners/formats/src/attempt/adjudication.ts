// A person's decision on a rule for one attempt. Lines of attempts/adjudications.jsonl hold them, and so does
// adjudications.jsonl in an archive of records. Lines are only added; the record and its verdict stay as they are.

import { fileFormat, flag, oneOf, sha256, type TypeOf, text, wholeExcept, wholeObject } from "../schema.ts";
import { archiveSource, memberOrigin } from "./record-origin.ts";

/** Longer texts would hide the tables that print them. */
export const nameMax = 80;
export const reasonMax = 1000;

const decided = {
  rule: { ...text, maxLength: nameMax, description: "a rule of the attempt's task" },
  verdict: oneOf("pass", "fail"),
  by: { ...text, maxLength: nameMax, description: "the person, as typed; not checked" },
  reason: { ...text, maxLength: reasonMax },
} as const;

export const adjudication = fileFormat(
  "mlrb decision of a person on a rule",
  wholeExcept(["origin", "preferred"], {
    formatVersion: { const: 1 },
    decidedAt: text,
    record: { ...sha256, description: "the record of the attempt" },
    ...decided,
    origin: {
      ...wholeObject(archiveSource),
      description: "where an imported decision came from; absent: made on this machine",
    },
    preferred: {
      ...flag,
      description: "whether a person here gave an imported decision the weight of one that was made here",
    },
  }),
);
export type Adjudication = TypeOf<typeof adjudication>;

/** What manifests and reports keep of it: no clock, and nothing that differs between machines with the same list. */
export const memberDecision = wholeExcept(["origin"], {
  ...decided,
  counts: { ...flag, description: "whether it is the decision that the tables use for its rule" },
  origin: { ...memberOrigin, description: "of a decision that another machine made; absent: made here" },
});
export type MemberDecision = TypeOf<typeof memberDecision>;
