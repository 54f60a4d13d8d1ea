// Finds the file of the workspace that a model means. Pure: the reader of the file checks what is there, links
// included.
import { posix } from "node:path";
import { inside } from "../attempt/workspace.ts";
import { Refusal } from "./tool.ts";

/** `inside` is for the sandbox's port; `shown` is relative to the workspace, for the model. */
export type WorkspacePath = { inside: string; shown: string };

/** `workspace`: its absolute path as programs see it. Throws Refusal. */
export function workspacePath(asked: string, workspace: string): WorkspacePath {
  const quoted = JSON.stringify(asked.slice(0, 200));
  if (asked.includes("\0") || Buffer.byteLength(asked) > 4000) throw new Refusal(`${quoted} is no path`);
  const path = posix.isAbsolute(asked) ? posix.relative(workspace, asked) : posix.normalize(asked);
  const shown = path.replace(/\/+$/, "");
  if (shown === ".." || shown.startsWith("../"))
    throw new Refusal(
      `${quoted} lies outside of the workspace; this tool reaches only files in it. Use shell for others`,
    );
  if (shown === "" || shown === ".")
    throw new Refusal(`${quoted} is the workspace itself; name a file in it`);
  return { inside: `${inside.workspace}/${shown}`, shown };
}
