import { z } from "zod";
import { clipMax, shownText } from "../clip-text.ts";
import { pieces } from "../read-inside.ts";
import { refused, type ToolResult, type ToolWorld, tool } from "../tool.ts";
import { type WorkspacePath, workspacePath } from "../workspace-path.ts";

/** Bytes that are looked through for the first line asked for. */
const scanMax = 64 << 20;
const lineMax = 2_000;
const linesMax = 2_000;

export const path = z.string().min(1).describe("Relative to the workspace, or absolute and in it.");

export const viewFile = tool({
  name: "view_file",
  description:
    "Shows lines of a text file of the workspace, numbered. Long outputs of other tools lie in outputs/ and can be viewed with it.",
  input: {
    path,
    fromLine: z.number().int().min(1).max(1e9).optional().describe("The first line, from 1."),
    lines: z.number().int().min(1).max(linesMax).optional().describe("How many; 200 where not given."),
  },
  async run({ path: asked, fromLine = 1, lines = 200 }, world) {
    const found = workspacePath(asked, world.cwd);
    if ("refused" in found) return refused(found.refused);
    return view(world, found, { fromLine, lines });
  },
});

type Range = { fromLine: number; lines: number };
type Path = Exclude<WorkspacePath, { refused: string }>;

async function view(world: ToolWorld, found: Path, { fromLine, lines }: Range): Promise<ToolResult> {
  const read = pieces(world, found);
  const shown: string[] = [];
  let characters = 0;
  let number = 0;
  let full = false;
  let line: Buffer = Buffer.alloc(0);
  let cutBytes = 0;
  const take = () => {
    number++;
    if (number >= fromLine && !full) {
      const text = numbered(number, line, cutBytes);
      full = shown.length === lines || (shown.length > 0 && characters + text.length > clipMax);
      if (!full) {
        shown.push(text);
        characters += text.length + 1;
      }
    }
    line = Buffer.alloc(0);
    cutBytes = 0;
  };
  // one line's beginning is kept, in bytes: a character has at most four of them
  const gather = (part: Uint8Array) => {
    if (number + 1 < fromLine) return;
    const kept = part.subarray(0, Math.max(0, 4 * lineMax - line.length));
    if (kept.length > 0) line = Buffer.concat([line, kept]);
    cutBytes += part.length - kept.length;
  };

  let from = 0;
  let open = false;
  for (;;) {
    const piece = await read(from);
    if ("refused" in piece) return refused(piece.refused);
    if (piece.length === 0) break;
    from += piece.length;
    let at = 0;
    for (let end = piece.indexOf(10); end >= 0 && !full; end = piece.indexOf(10, at)) {
      if (number + 1 < fromLine) number++;
      else {
        gather(piece.subarray(at, end));
        take();
      }
      at = end + 1;
    }
    if (full) break;
    gather(piece.subarray(at));
    open = piece.at(-1) !== 10;
    if (from >= scanMax)
      return refused(
        `line ${fromLine} of ${found.shown} lies beyond its first ${scanMax} bytes; use shell, e.g. sed -n or tail`,
      );
  }
  if (open && !full) take();
  if (from === 0) return { outcome: "done", text: `${found.shown} is empty` };
  if (shown.length === 0) return refused(`${found.shown} has ${number} lines; there is no line ${fromLine}`);
  const last = fromLine + shown.length - 1;
  const next = full
    ? `\n[… more follows; go on with "fromLine": ${last + 1} …]`
    : `\n[end of ${found.shown}]`;
  return { outcome: "done", text: `${shown.join("\n")}${next}` };
}

function numbered(number: number, line: Uint8Array, cutBytes: number): string {
  const text = shownText(line).replace(/\n$/, "");
  const short = text.slice(0, lineMax);
  const more = cutBytes > 0 || short.length < text.length ? " [… this line is longer …]" : "";
  return `${String(number).padStart(6)}\t${short}${more}`;
}
