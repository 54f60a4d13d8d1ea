// The texts of an attempt's folders as its record keeps them, and what of them was not kept.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { workspaceIndex } from "@mlrb/formats/attempt/workspace-index";
import { mustFollow } from "@mlrb/formats/read-format";

/** Of the folder `workspace/` of an attempt. It has no such folder where nothing was kept. */
export const keptFiles = (workspace: string) => join(workspace, "files");

/** A link's target lies elsewhere in the folder, or was never the attempt's. */
const holdsNone = /^(no text|symbolic link$|named pipe$|socket$|device$)/;

/** What may hold text and is not among them. */
export function notKept(workspace: string | undefined): { place: string; why: string }[] {
  const file = workspace && join(workspace, "index.json");
  if (!file || !existsSync(file)) return [{ place: "workspace", why: "not kept" }];
  const { folders } = mustFollow(workspaceIndex, JSON.parse(readFileSync(file, "utf8")), "index.json");
  return folders.flatMap(({ folder, over, leftOut, leftOutMore }) => [
    ...(over === undefined ? [] : [{ place: folder, why: over }]),
    ...leftOut
      .filter(({ why }) => !holdsNone.test(why))
      .map(({ path, why }) => ({ place: `${folder}/${path}`, why })),
    ...(leftOutMore > 0 ? [{ place: folder, why: `${leftOutMore} more files are not kept` }] : []),
  ]);
}
