// Writes a file of the workspace by a program inside the sandbox, as the agent's user: the same permissions refuse
// what the agent may not write (its data), modes stay, and no link leads the harness elsewhere. The text arrives
// as a file next to the workspace.
import { hash } from "node:crypto";
import { inside } from "../attempt/workspace.ts";
import { putText } from "./put-text.ts";
import { runToolProgram } from "./run-tool-program.ts";
import { failed, refused, type ToolResult, type ToolWorld } from "./tool.ts";
import type { WorkspacePath } from "./workspace-path.ts";

/** Exit codes below 30 are those of other programs. */
const program = `
from="$1"; to="$2"; how="$3"
trap 'rm -f -- "$from"' EXIT
workspace="$(pwd -P)"
folder="$(dirname -- "$to")"
mkdir -p -- "$folder" 2>/dev/null || exit 31
case "$(cd -- "$folder" && pwd -P)/" in "$workspace"/*) ;; *) exit 32 ;; esac
if [ -L "$to" ] || { [ -e "$to" ] && ! [ -f "$to" ]; }; then exit 33; fi
if [ "$how" = append ]; then
  if [ -s "$to" ] && [ -n "$(tail -c 1 -- "$to")" ]; then echo >> "$to" || exit 34; fi
  cat -- "$from" >> "$to" || exit 34
else
  cat -- "$from" > "$to" || exit 34
fi
`;

const why: Record<number, string> = {
  31: "its folder cannot be made: a file stands in the way, or it is read-only",
  32: "its folder is a link that leads out of the workspace",
  33: "a link, a folder or a device stands in its place; remove it with shell first",
  34: "it cannot be written: read-only, or no room",
};

/** Undefined if the file was written. */
export async function writeInside(
  world: ToolWorld,
  path: WorkspacePath,
  { text, how }: { text: string; how: "replace" | "append" },
): Promise<ToolResult | undefined> {
  const inWorkspace = path.inside.slice(inside.workspace.length + 1);
  if (/^(data|models)\//.test(inWorkspace))
    return refused(`${path.shown} was given read-only; write elsewhere`);
  const staged = `tmp/.tool-text${world.board ? `-${world.board.member}` : ""}`;
  if (!(await putText(world, text, staged)))
    return failed('the folder for temporary files is gone; make it again with shell: mkdir -p "$TMPDIR"');
  // `./` keeps a name that begins with a dash from being an option
  const argv = ["sh", "-c", program, "sh", world.sandbox.seenAs(staged), `./${inWorkspace}`, how];
  const at = { ...world, cwd: world.sandbox.seenAs(inside.workspace) };
  const { end, output } = await runToolProgram(at, { argv, limitSeconds: 60 });
  output.remove();
  if (end.outcome === "done") {
    if (how === "replace")
      world.write({
        ...{ event: "file-change", by: world.by, path: inWorkspace },
        ...{ digest: hash("sha256", text), bytes: Buffer.byteLength(text) },
      });
    return undefined;
  }
  const { line, executed: _, exit, ...result } = end;
  const known = exit && "code" in exit ? why[exit.code] : undefined;
  return { ...result, text: `${path.shown} was not written: ${known ?? line}` };
}
