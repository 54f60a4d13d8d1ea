// Public rows of a task as its dev scorer reads them, by `devScorers` of task.yaml. Test rows never come here: of the
// private data only the files that `keep` names are copied, e.g. settings. By hand:
//   node tasks/data/dev-data.ts --param 'dev={"rows": "dev.jsonl", "as": "heldout.jsonl"}' --input public=DIR
//     --input private=DIR --output private=DIR
import { cpSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { stage } from "@mlrb/kit/stage";
import { type HubRow, hubConfigs, hubRows } from "./hub-rows.ts";
import { writeRows } from "./smoke-stage.ts";

type Dev = { rows: string; split?: string; as: string; text?: string; keep?: string[]; most?: number };

const { params, inputs, outputs } = stage();
const dev = params.dev as Dev;
for (const file of dev.keep ?? []) cpSync(join(inputs.private!, file), join(outputs.private!, file));
const rows = spaced(await devRows(inputs.public!, dev), dev.most).map((row, at) =>
  dev.text === undefined ? row : { id: `dev-${at}`, group: "dev", text: String(row[dev.text]) },
);
if (rows.length === 0) throw new Error(`${dev.rows} has no row to measure on`);
for (const [path, own] of Map.groupBy(rows, (row: HubRow) => dev.as.replace(/\{(\w+)\}/g, partOf(row))))
  writeRows(join(outputs.private!, dirname(path)), basename(path), own);

async function devRows(folder: string, { rows, split }: Dev): Promise<HubRow[]> {
  if (split === undefined) return hubRows(folder, [rows]);
  const files = [...hubConfigs(join(folder, rows)).values()].flatMap((splits) => splits.get(split) ?? []);
  if (files.length === 0) throw new Error(`${rows} has no split ${split}`);
  return hubRows(join(folder, rows), files);
}

function spaced(all: HubRow[], most = all.length): HubRow[] {
  const count = Math.min(most, all.length);
  return Array.from({ length: count }, (_, at) => all[Math.floor((at * all.length) / count)]!);
}

/** A field of the row as a part of a path. */
function partOf(row: HubRow) {
  return (_: string, field: string) => {
    const value = String(row[field]);
    if (!/^[\w-]+$/.test(value)) throw new Error(`"${value}" in the field ${field} cannot name a folder`);
    return value;
  };
}
