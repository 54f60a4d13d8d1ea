// The format of withheld.json: what the download gateway of a sealed attempt does not serve. It holds hashes only.
import {
  anyText,
  count,
  fileFormat,
  listOf,
  name,
  oneOf,
  sha256,
  type TypeOf,
  wholeObject,
} from "../schema.ts";

const rows = {
  texts: {
    ...listOf({ ...listOf({ type: "integer" }), minItems: 5, maxItems: 5 }),
    description: "texts of withheld rows: number of words, hash of the first four words, hash of all words",
  },
  rows: { ...listOf(listOf(count)), description: "for each row the places of its texts in `texts`" },
} as const;

export const withheldFile = fileFormat(
  "mlrb withheld data",
  wholeObject({
    formatVersion: { const: 1 },
    sources: {
      ...listOf(
        wholeObject({
          name,
          type: oneOf("dataset", "model"),
          repository: anyText,
          serves: { ...listOf(anyText), description: "patterns of its files that are served" },
        }),
      ),
      description: "repositories on which scores are taken",
    },
    digests: { ...listOf(sha256), description: "SHA-256 of their files that are not served" },
    ...rows,
  }),
);

export type Withheld = TypeOf<typeof withheldFile>;
export type WithheldRows = Pick<Withheld, "texts" | "rows">;
