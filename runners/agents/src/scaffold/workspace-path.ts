// Finds the file of the workspace that a model means. Pure: the reader of the file checks what is there, links
// included.
import { posix } from "node:path";
import { inside } from "../attempt/workspace.ts";
import { Refusal, type ToolWorld } from "./tool.ts";

/** `inside` is for the sandbox's port; `shown` is relative to the working directory, for the model. */
export type WorkspacePath = { inside: string; shown: string };

/** What the folder of a member of a team has as links. The harness follows none, so these paths are resolved here. */
const linked = Object.values(inside).map((path) => posix.basename(path));

/** Throws Refusal. */
export function workspacePath(
  asked: string,
  { cwd, sandbox }: Pick<ToolWorld, "cwd" | "sandbox">,
): WorkspacePath {
  const workspace = sandbox.seenAs(inside.workspace);
  const quoted = JSON.stringify(asked.slice(0, 200));
  if (asked.includes("\0") || Buffer.byteLength(asked) > 4000) throw new Refusal(`${quoted} is no path`);
  const shown = posix.relative(cwd, posix.resolve(cwd, asked));
  const at = linked.includes(shown.split("/", 1)[0]!) ? workspace : cwd;
  const path = posix.relative(workspace, posix.resolve(at, shown));
  if (path === ".." || path.startsWith("../"))
    throw new Refusal(
      `${quoted} lies outside of the workspace; this tool reaches only files in it. Use shell for others`,
    );
  if (path === "") throw new Refusal(`${quoted} is the workspace itself; name a file in it`);
  return { inside: `${inside.workspace}/${path}`, shown };
}
