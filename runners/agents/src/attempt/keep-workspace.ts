// Keeps the texts that an attempt left in its folders: what it wrote and downloaded is compared with scored rows and
// read by judges later. Weights are not kept.
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { CopiedTexts, Sandbox, TextLimits } from "@mlrb/core/ports/sandbox";
import type { WorkspaceIndex } from "@mlrb/formats/attempt/workspace-index";
import { isFullDisk, writeReserved } from "@mlrb/kit/files/full-disk";
import { canonicalJson } from "@mlrb/kit/json-file";
import { inside } from "./workspace.ts";

/** Of each folder. Source code and notes of a day take some MB; the limits leave room for small data sets. */
const limits: TextLimits = { bytesMax: 64 << 20, fileBytesMax: 16 << 20, filesMax: 50_000 };

/** What every attempt is given, and what is kept by other means. */
const { data, models, submission, deadline, check } = inside;
const passedOver = [data, models, submission, deadline, check]
  .map((path) => path.slice(inside.workspace.length + 1))
  .concat("TASK.md");

/** Its room is reserved before the attempt. */
export const keptIndex = (to: string) => join(to, "index.json");

/**
 * Writes `files/` and `index.json` to the folder `to`. Call when nothing runs inside. Texts for which a full disk has
 * no room are not kept: they are not worth a wait. Throws if the index needs more room than is reserved.
 */
export async function keepWorkspace({ texts }: Pick<Sandbox, "texts">, to: string): Promise<void> {
  const folders: WorkspaceIndex["folders"] = [];
  await rm(join(to, "files"), { recursive: true, force: true }); // of a try that a full disk ended
  for (const folder of [inside.workspace, "home", "tmp"]) {
    const without = folder === inside.workspace ? passedOver : [];
    const files = join(to, "files", folder);
    try {
      const copied = await texts?.({ inside: folder, to: files, without, limits });
      if (copied) folders.push(summary(folder, copied));
    } catch (error) {
      if (!isFullDisk(error)) throw error;
      await rm(files, { recursive: true, force: true });
      folders.push(noneOf(folder, "no room on the disk"));
    }
  }
  writeIndex(to, folders);
}

/** Of an attempt that was sealed before its texts were kept. */
export function noteNotKept(to: string): void {
  if (!existsSync(keptIndex(to))) writeIndex(to, [noneOf(inside.workspace, "the attempt was interrupted")]);
}

function noneOf(folder: string, why: string): WorkspaceIndex["folders"][number] {
  return { folder, files: 0, bytes: 0, leftOut: [], leftOutMore: 0, over: `not kept: ${why}` };
}

function writeIndex(to: string, folders: WorkspaceIndex["folders"]): void {
  writeReserved(keptIndex(to), canonicalJson({ formatVersion: 1, folders } satisfies WorkspaceIndex, 2));
}

function summary(folder: string, { files, ...copied }: CopiedTexts): WorkspaceIndex["folders"][number] {
  return { folder, files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0), ...copied };
}
