// The shared part of the tasks' data scripts: refuses kinds of data that a script does not make, and writes rows.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson } from "@mlrb/kit/json-file";
import { stage } from "@mlrb/kit/stage";

/** The output folders of smoke data. Throws for another kind. */
export function smokeStage(task: string): { open: string; hidden: string } {
  const { params, outputs } = stage();
  if (params.source !== "smoke")
    throw new Error(
      `${task}: no data for source ${canonicalJson(params.source)}: only "smoke" and "official" are built so far; docs/paper.md says what is missing`,
    );
  const { public: open = "", private: hidden = "" } = outputs;
  return { open, hidden };
}

/** Writes one JSON object a line, into a folder that is made where it is missing. */
export function writeRows(folder: string, name: string, rows: unknown[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), rows.map((row) => `${canonicalJson(row)}\n`).join(""));
}
