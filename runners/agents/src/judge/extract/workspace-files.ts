// Adds the files that an attempt left to its extract: new ones as text, changed ones as the lines that differ from
// the given file. Files that were given and did not change are left out.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { diff } from "node:util";
import { readBounded } from "@mlrb/kit/admission/admission-files";
import { readingLimits } from "@mlrb/kit/admission/reading-limits";
import { filesIn } from "@mlrb/kit/files/files-in";
import { keptFiles, notKept } from "../../folders/kept-workspace.ts";
import { contentKind, peekBytes } from "../../hub/contents/content-kind.ts";
import type { ExtractDraft } from "./extract-draft.ts";

/** Comparing takes time and memory in the square of this. */
const linesMax = 2000;

const read = (path: string) => readBounded(path, readingLimits.attachmentBytes);

/** `given`: folders of files that the attempt found in its workspace. `members`: of a team, each with a workspace. */
type Known = { given: readonly string[]; members: ReadonlyMap<string, string> };

/** `workspace`: of the record. */
export function addWorkspace(
  draft: ExtractDraft,
  workspace: string | undefined,
  { given, members }: Known,
): void {
  for (const { place, why } of notKept(workspace))
    if (!why.startsWith("binary")) draft.leaveOut(`${JSON.stringify(place)}: ${why}`);
  if (workspace === undefined) return;
  const folder = keptFiles(workspace);
  for (const path of existsSync(folder) ? filesIn(folder) : []) {
    const all = path.replace(/^workspace\//, "");
    const member = all === path ? undefined : members.get(all.split("/", 1)[0]!);
    const own = member === undefined ? all : all.slice(all.indexOf("/") + 1);
    if (member !== undefined && own === "TASK.md") continue; // the prompt
    const of = member === undefined ? "" : ` of ${member}`;
    const title = `${JSON.stringify(own)}, left in ${all === path ? "the sandbox" : `the workspace${of}`}`;
    const places = given.map((root) => join(root, own));
    const bytes = read(join(folder, path));
    const kind = typeof bytes === "string" ? undefined : contentKind(Buffer.from(bytes.slice(0, peekBytes)));
    // compiled code, numbers and pictures: thousands of lines that say nothing
    if (["binary", "safetensors", "media"].includes(kind ?? "")) continue;
    const before = places.map(read).find((one) => typeof one !== "string");
    if (typeof bytes === "string") draft.leaveOut(`${title}: ${bytes}`);
    else if (kind !== "text") draft.add("file", `${title}: no text, ${bytes.length} bytes`);
    else if (before === undefined) draft.add("file", `${title}:\n${Buffer.from(bytes)}`);
    else if (Buffer.compare(bytes, before) !== 0)
      draft.add("file", `${title}, changed:\n${changes(`${Buffer.from(before)}`, `${Buffer.from(bytes)}`)}`);
  }
}

function changes(before: string, after: string): string {
  const [old, now] = [before.split("\n"), after.split("\n")];
  if (Math.max(old.length, now.length) > linesMax) return after;
  const changed = diff(now, old).filter(([side]) => side !== 0);
  return changed.map(([side, line]) => `${side === 1 ? "+" : "-"}${line}`).join("\n");
}
