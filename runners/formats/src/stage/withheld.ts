// The format of withheld.json: what the download gateway of a sealed attempt does not serve. It holds hashes only.
import * as t from "../schema.ts";

const rows = {
  texts: t.about(
    t.listOf({ ...t.listOf({ type: "integer" }), minItems: 5, maxItems: 5 }),
    "texts of withheld rows: number of words, hash of the first four words, hash of all words",
  ),
  rows: t.about(t.listOf(t.listOf(t.count)), "for each row the places of its texts in `texts`"),
} as const;

export const withheldFile = t.wholeFile("mlrb withheld data", 1, {
  sources: t.about(
    t.listOf(
      t.wholeObject({
        name: t.name,
        type: t.oneOf("dataset", "model"),
        repository: t.anyText,
        serves: t.about(t.listOf(t.anyText), "patterns of its files that are served"),
      }),
    ),
    "repositories on which scores are taken",
  ),
  digests: t.about(t.listOf(t.sha256), "SHA-256 of their files that are not served"),
  ...rows,
});

export type Withheld = t.TypeOf<typeof withheldFile>;
export type WithheldRows = Pick<Withheld, "texts" | "rows">;
