// workspace/index.json of a recorded attempt: which texts of its folders were kept in workspace/files, and what not.
import * as t from "../schema.ts";

const kept = t.wholeExcept(["over"], {
  folder: t.about(t.text, "as the agent knew it, without the data, models and submission in it"),
  files: t.count,
  bytes: t.count,
  leftOut: t.about(t.listOf(t.wholeObject({ path: t.anyText, why: t.anyText })), "bounded"),
  leftOutMore: t.count,
  over: t.about(t.anyText, "why not all of the folder was looked at"),
});

export const workspaceIndex = t.wholeObject({ formatVersion: t.formatVersionOne, folders: t.listOf(kept) });
export type WorkspaceIndex = t.TypeOf<typeof workspaceIndex>;
