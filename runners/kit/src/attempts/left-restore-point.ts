// Finds the newest restore point in the folder of an attempt's restore points.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { restorePoint as format, type RestorePoint } from "@mlrb/formats/attempt/restore-point";
import { readFormat } from "@mlrb/formats/read-format";

export type LeftRestorePoint = { name: string; restorePoint: RestorePoint };

/** In an attempt's folder. */
export const restorePointsFolder = "restore-points";

export function restorePointContents(folder: string): string {
  return join(folder, "contents");
}

/** Undefined if there is none that can be read. */
export function leftRestorePoint(folder: string): LeftRestorePoint | undefined {
  for (const name of namesIn(folder).reverse()) {
    const reading = readFormat(format, readFileSync(join(folder, `${name}.json`), "utf8"));
    if (reading.kind === "ok") return { name, restorePoint: reading.value };
  }
  return undefined;
}

/** Whether there is one, without reading it. */
export function hasRestorePoint(folder: string): boolean {
  return namesIn(folder).length > 0;
}

function namesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .flatMap((file) => /^(\d{4,})\.json$/.exec(file)?.[1] ?? [])
    .sort();
}
