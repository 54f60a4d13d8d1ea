// The format of NNNN.json in the folder of an attempt's checkpoints: the files of its sandbox at one moment, and the
// place in the trajectory that belongs to it.
import {
  amount,
  anyText,
  count,
  listOf,
  oneOf,
  pathInside,
  type TypeOf,
  text,
  wholeExcept,
  wholeObject,
} from "../schema.ts";

const checkpointEntry = wholeExcept(["target", "content", "bytes", "mtimeMs", "identity"], {
  path: { ...pathInside, description: "from the sandbox's root" },
  kind: oneOf("folder", "file", "link"),
  mode: { ...count, description: "permission bits" },
  target: { ...anyText, description: "of a link" },
  content: { type: "string", pattern: "^[0-9]+$", description: "of a file: its name in contents/" },
  bytes: count,
  mtimeMs: amount,
  identity: { ...text, description: "inode, size and times: an equal one has the same content" },
});

export const checkpoint = wholeObject({
  formatVersion: { const: 1 },
  after: { ...count, description: "lines of the trajectory up to here" },
  workingMs: amount,
  entries: listOf(checkpointEntry),
});

export type CheckpointEntry = TypeOf<typeof checkpointEntry>;
export type Checkpoint = TypeOf<typeof checkpoint>;
