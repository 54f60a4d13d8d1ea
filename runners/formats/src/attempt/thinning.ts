// A line of attempts/thinned.jsonl: weights of an attempt that were removed, or are about to be. The line is on disk
// before the first file is removed, and the record stays as it is.

import {
  anyText,
  count,
  fileFormat,
  flag,
  listOf,
  sha256,
  type TypeOf,
  text,
  wholeExcept,
  wholeObject,
} from "../schema.ts";

const thinnedFile = wholeExcept(["executable"], {
  path: { ...text, description: "from the record's folder" },
  digest: sha256,
  bytes: count,
  executable: flag,
});
export type ThinnedFile = TypeOf<typeof thinnedFile>;

export const thinning = fileFormat(
  "mlrb removal of an attempt's weights",
  wholeObject({
    formatVersion: { const: 1 },
    thinnedAt: text,
    record: { ...sha256, description: "the record of the attempt" },
    why: anyText,
    files: listOf(thinnedFile),
  }),
);
export type Thinning = TypeOf<typeof thinning>;
