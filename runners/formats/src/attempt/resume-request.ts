// The formats of the socket of an attempt that waits for a person: one JSON line in each direction.
import { anyText, count, type TypeOf, tableOf, text, wholeObject } from "../schema.ts";

export const resumeRequest = wholeObject({
  formatVersion: { const: 1 },
  secrets: { ...tableOf(text), description: "new values by name; empty if the old ones are right again" },
});

export const resumeReply = {
  type: "object",
  discriminator: { propertyName: "kind" },
  required: ["kind"],
  oneOf: [
    wholeObject({
      kind: { const: "resumed" },
      calls: { ...count, description: "calls that are tried again now" },
    }),
    wholeObject({ kind: { const: "refused" }, detail: anyText }),
  ],
} as const;

export type ResumeRequest = TypeOf<typeof resumeRequest>;
export type ResumeReply = TypeOf<typeof resumeReply>;
