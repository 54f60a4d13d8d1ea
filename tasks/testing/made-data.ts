// Runs a task's data script, and reads its output.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export function makeData(task: string, { source, folder }: { source: string; folder: string }) {
  const outputs = ["public", "private"].map((name) => {
    mkdirSync(join(folder, name), { recursive: true });
    return `--output=${name}=${join(folder, name)}`;
  });
  const script = resolve(import.meta.dirname, "..", task, "data.ts");
  return spawnSync(process.execPath, [script, `--param=source=${source}`, ...outputs], { encoding: "utf8" });
}

export function readRows<T>(file: string): T[] {
  return readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as T);
}

/** The long paragraphs of `hidden` that are in `open` too. Short ones ("No.") occur anywhere. */
export function sharedParagraphs(hidden: string, open: Set<string>): string[] {
  return hidden.split("\n").filter((paragraph) => paragraph.length > 80 && open.has(paragraph));
}
