// `pipeline report --dataset FOLDER`: a run's results as a data set that Hugging Face's `datasets` loads from
// disk.
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { processName } from "@mlrb/kit/processes/process-name";
import { dataSetCard, dataSetTables } from "@mlrb/report/exports/data-set-card";
import { failed } from "../request/refuse.ts";
import { isEmptyFolder, typedIn } from "../request/root-folder.ts";
import { readReport } from "../show/read-report.ts";

/** Returns 0, or 1 after an error. `again` is the command that makes the results again. */
export function writeDataSet(results: string, typed: string, again: string): number {
  const folder = resolve(typedIn(), typed);
  if (existsSync(folder) && !isEmptyFolder(folder))
    return failed(`exists: ${folder} is not an empty folder`, "name a folder that does not exist");
  const path = join(results, "report.json");
  if (!existsSync(path)) return failed(`no-report: there is no ${path}`, again);
  const reading = readReport(path);
  if (reading.kind !== "ok") return failed(`no-report: ${path}: ${reading.cause}`, again);
  const tables = dataSetTables.filter((name) => existsSync(join(results, `${name}.csv`)));
  if (!tables.includes("summary")) return failed(`no-tables: ${results} has no summary.csv`, again);
  const temporary = `${folder}.${processName}.tmp`;
  try {
    mkdirSync(join(temporary, "data"), { recursive: true });
    for (const name of tables)
      copyFileSync(join(results, `${name}.csv`), join(temporary, "data", `${name}.csv`));
    copyFileSync(join(results, "report.json"), join(temporary, "report.json"));
    writeFileSync(join(temporary, "README.md"), dataSetCard(reading.value, tables));
    mkdirSync(dirname(folder), { recursive: true });
    renameSync(temporary, folder);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  process.stdout.write(
    `wrote ${folder}: ${tables.length} tables; choose a licence in its README.md before you publish it\n`,
  );
  return 0;
}
