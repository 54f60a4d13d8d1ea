// The state of an attempt whose node shares no disk with the host that submitted its job: what the node sends through the
// relay before each model call, what it gets back, and where its newest checkpoint is in the remote cache.
import {
  anyText,
  count,
  listOf,
  type TypeOf,
  text,
  textOrNull,
  wholeExcept,
  wholeObject,
} from "../schema.ts";
import { parcel } from "./parcel.ts";

const formatVersion = { const: 1 } as const;

/** A small file; null: there is none. */
const wholeFile = wholeObject({ file: text, content: textOrNull });

export const attemptUpdate = wholeObject({
  formatVersion,
  log: { ...anyText, description: "for the end of the attempt's log" },
  attachments: {
    ...listOf(wholeObject({ name: text, content: anyText })),
    description: "long texts of the trajectory, by their digest",
  },
  appended: {
    ...listOf(wholeObject({ file: text, from: count, lines: anyText })),
    description: "whole lines of append-only files; `from`: the byte at which they begin",
  },
  whole: listOf(wholeFile),
});
export type AttemptUpdate = TypeOf<typeof attemptUpdate>;

/** What people wrote for the attempt on the host that submitted. */
export const attemptOrders = wholeObject({ formatVersion, whole: listOf(wholeFile) });
export type AttemptOrders = TypeOf<typeof attemptOrders>;

/** The file `checkpoint-parcel.json` in the attempt's folder. */
export const checkpointParcel = wholeExcept(["before"], {
  formatVersion,
  name: { ...text, description: "of the checkpoint" },
  parcel,
  before: { ...parcel, description: "of the checkpoint before, in case the cache has lost this one" },
});
export type CheckpointParcel = TypeOf<typeof checkpointParcel>;

/** An entry of its folder, never a path to another one. */
const entryName = { type: "string", pattern: "^(?!\\.{1,2}$)[^/\\u0000]+$" } as const;

/** In the parcel of a checkpoint: its large files and the snapshots of the submission, each in a parcel of its own. */
export const checkpointParts = wholeObject({
  formatVersion,
  parts: listOf(wholeObject({ folder: text, name: entryName, parcel })),
});
export type CheckpointParts = TypeOf<typeof checkpointParts>;
