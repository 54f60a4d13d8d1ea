// The shared part of the tasks' data scripts: refuses sources that are not built yet, and writes rows.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson } from "@mlrb/kit/json-file";
import { stage } from "@mlrb/kit/stage";

/** The output folders of a data script that builds only smoke data. Throws for any other source. */
export function smokeStage(task: string): { open: string; hidden: string } {
  const { params, outputs } = stage();
  if (params.source !== "smoke") {
    throw new Error(
      `${task}: no data for source ${canonicalJson(params.source)}: only "smoke" is built so far; ` +
        "the official data set, named in task.yaml, is not wired to this script yet",
    );
  }
  const { public: open = "", private: hidden = "" } = outputs;
  return { open, hidden };
}

/** Writes one JSON object a line, into a folder that is made where it is missing. */
export function writeRows(folder: string, name: string, rows: unknown[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), rows.map((row) => `${canonicalJson(row)}\n`).join(""));
}
