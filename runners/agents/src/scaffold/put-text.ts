// Puts a model's text into the sandbox as a file of the agent. Returns undefined if something inside blocks the
// path, which is the agent's doing. Other errors are thrown.
import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isFullDisk } from "@mlrb/kit/files/full-disk";
import type { ToolWorld } from "./tool.ts";

export async function putText(
  { sandbox, scratch }: Pick<ToolWorld, "sandbox" | "scratch">,
  text: string,
  inside: string,
): Promise<"put" | undefined> {
  using folder = mkdtempDisposableSync(join(scratch, "text-"));
  try {
    const path = join(folder.path, "text");
    writeFileSync(path, text.toWellFormed());
    await sandbox.put(path, inside);
    return "put";
  } catch (error) {
    if (isFullDisk(error)) throw error;
    return undefined;
  }
}
