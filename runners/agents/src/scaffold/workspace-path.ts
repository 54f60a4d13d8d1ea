// Finds the file of the workspace that a model means. Pure: the reader of the file checks what is there, links included.
import { posix } from "node:path";
import { inside } from "../attempt/workspace.ts";

export type WorkspacePath =
  /** `inside` is for the sandbox's port; `shown` is relative to the workspace, for the model. */
  { inside: string; shown: string } | { refused: string };

/** `workspace`: its absolute path as programs see it. */
export function workspacePath(asked: string, workspace: string): WorkspacePath {
  const quoted = JSON.stringify(asked.slice(0, 200));
  if (asked.includes("\0") || Buffer.byteLength(asked) > 4000) return { refused: `${quoted} is no path` };
  const path = posix.isAbsolute(asked) ? posix.relative(workspace, asked) : posix.normalize(asked);
  const shown = path.replace(/\/+$/, "");
  if (shown === ".." || shown.startsWith("../"))
    return {
      refused: `${quoted} lies outside of the workspace; this tool reaches only files in it. Use shell for others`,
    };
  if (shown === "" || shown === ".")
    return { refused: `${quoted} is the workspace itself; name a file in it` };
  return { inside: `${inside.workspace}/${shown}`, shown };
}
