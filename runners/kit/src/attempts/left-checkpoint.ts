// Finds the newest checkpoint in the folder of an attempt's checkpoints.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Checkpoint, checkpoint as format } from "@mlrb/formats/attempt/checkpoint";
import { readFormat } from "@mlrb/formats/read-format";

export type LeftCheckpoint = { name: string; checkpoint: Checkpoint };

/** In an attempt's folder. */
export const checkpointsFolder = "checkpoints";

export function checkpointContents(folder: string): string {
  return join(folder, "contents");
}

/** Undefined if there is none that can be read. */
export function leftCheckpoint(folder: string): LeftCheckpoint | undefined {
  for (const name of namesIn(folder).reverse()) {
    const reading = readFormat(format, readFileSync(join(folder, `${name}.json`), "utf8"));
    if (reading.kind === "ok") return { name, checkpoint: reading.value };
  }
  return undefined;
}

/** Whether there is one, without reading it. */
export function hasCheckpoint(folder: string): boolean {
  return namesIn(folder).length > 0;
}

function namesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .flatMap((file) => /^(\d{4,})\.json$/.exec(file)?.[1] ?? [])
    .sort();
}
