// A line of attempts/thinned.jsonl: weights of an attempt that were removed, or are about to be. The line is on
// disk before the first file is removed, and the record stays as it is.

import * as t from "../schema.ts";

const thinnedFile = t.wholeExcept(["executable"], {
  path: t.about(t.text, "from the record's folder"),
  digest: t.sha256,
  bytes: t.count,
  executable: t.flag,
});
export type ThinnedFile = t.TypeOf<typeof thinnedFile>;

export const thinning = t.wholeFile("mlrb removal of an attempt's weights", 1, {
  thinnedAt: t.text,
  record: t.about(t.sha256, "the record of the attempt"),
  why: t.anyText,
  files: t.listOf(thinnedFile),
});
export type Thinning = t.TypeOf<typeof thinning>;
