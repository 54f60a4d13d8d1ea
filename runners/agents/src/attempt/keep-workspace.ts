// Keeps the texts that an attempt left in its folders: what it wrote and downloaded is compared with scored rows and
// read by judges later. Weights are not kept.
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { CopiedTexts, Sandbox, TextLimits } from "@mlrb/core/ports/sandbox";
import type { WorkspaceIndex } from "@mlrb/formats/attempt/workspace-index";
import { writeJson } from "@mlrb/kit/json-file";
import { inside } from "./workspace.ts";

/** Of each folder. Source code and notes of a day take some MB; the limits leave room for small data sets. */
const limits: TextLimits = { bytesMax: 64 << 20, fileBytesMax: 16 << 20, filesMax: 50_000 };

/** What every attempt is given, and what is kept by other means. */
const { data, models, submission, deadline, check } = inside;
const passedOver = [data, models, submission, deadline, check]
  .map((path) => path.slice(inside.workspace.length + 1))
  .concat("TASK.md");

const indexOf = (to: string) => join(to, "index.json");

/** Writes `files/` and `index.json` to the folder `to`. Call when nothing runs inside. Throws on a full disk. */
export async function keepWorkspace({ texts }: Pick<Sandbox, "texts">, to: string): Promise<void> {
  const folders: WorkspaceIndex["folders"] = [];
  await rm(join(to, "files"), { recursive: true, force: true }); // of a try that a full disk ended
  for (const folder of [inside.workspace, "home", "tmp"]) {
    const without = folder === inside.workspace ? passedOver : [];
    const copied = await texts?.({ inside: folder, to: join(to, "files", folder), without, limits });
    if (copied) folders.push(summary(folder, copied));
  }
  writeIndex(to, folders);
}

/** Of an attempt that was sealed before its texts were kept. */
export function noteNotKept(to: string): void {
  const none = { files: 0, bytes: 0, leftOut: [], leftOutMore: 0, textBytesLeftOut: 0 };
  const over = "not kept: the attempt was interrupted";
  if (!existsSync(indexOf(to))) writeIndex(to, [{ folder: inside.workspace, ...none, over }]);
}

function writeIndex(to: string, folders: WorkspaceIndex["folders"]): void {
  writeJson(indexOf(to), { formatVersion: 1, folders } satisfies WorkspaceIndex);
}

function summary(folder: string, { files, ...copied }: CopiedTexts): WorkspaceIndex["folders"][number] {
  return { folder, files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0), ...copied };
}
