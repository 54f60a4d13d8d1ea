// The formats of the socket of an attempt that waits for a person: one JSON line in each direction.
import { anyText, count, openObject, type TypeOf, tableOf, text } from "../schema.ts";

export const resumeRequest = openObject(
  {
    formatVersion: { const: 1 },
    secrets: { ...tableOf(text), description: "new values by name; empty if the old ones are right again" },
  },
  ["formatVersion", "secrets"],
);

export const resumeReply = {
  type: "object",
  discriminator: { propertyName: "kind" },
  required: ["kind"],
  oneOf: [
    openObject(
      { kind: { const: "resumed" }, calls: { ...count, description: "calls that are tried again now" } },
      ["kind", "calls"],
    ),
    openObject({ kind: { const: "refused" }, detail: anyText }, ["kind", "detail"]),
  ],
} as const;

export type ResumeRequest = TypeOf<typeof resumeRequest>;
export type ResumeReply = TypeOf<typeof resumeReply>;
