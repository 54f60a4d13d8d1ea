// The format of check.json: what a deep check of a host found. A check that fails writes none.
import { fileFormat, type TypeOf, textOrNull, wholeObject } from "../schema.ts";

export const hostCheck = fileFormat(
  "mlrb host check",
  wholeObject({
    formatVersion: { const: 1 },
    found: {
      ...textOrNull,
      description: "what worked, with its numbers, in one line; null: the profile has nothing of this kind",
    },
  }),
);
export type HostCheck = TypeOf<typeof hostCheck>;
