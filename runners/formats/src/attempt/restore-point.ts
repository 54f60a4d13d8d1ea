// The format of NNNN.json in the folder of an attempt's restore points: the files of its sandbox at one moment,
// and the place in the trajectory that belongs to it.
import * as t from "../schema.ts";

const restorePointEntry = t.wholeExcept(["target", "content", "bytes", "mtimeMs", "identity"], {
  path: t.about(t.pathInside, "from the sandbox's root"),
  kind: t.oneOf("folder", "file", "link"),
  mode: t.about(t.count, "permission bits"),
  target: t.about(t.anyText, "of a link"),
  content: t.about({ type: "string", pattern: "^[0-9]+$" }, "of a file: its name in contents/"),
  bytes: t.count,
  mtimeMs: t.amount,
  identity: t.about(t.text, "inode, size and times: an equal one has the same content"),
});

export const restorePoint = t.wholeObject({
  formatVersion: { const: 1 },
  after: t.about(t.count, "lines of the trajectory up to here"),
  workingMs: t.amount,
  entries: t.listOf(restorePointEntry),
});

export type RestorePointEntry = t.TypeOf<typeof restorePointEntry>;
export type RestorePoint = t.TypeOf<typeof restorePoint>;
