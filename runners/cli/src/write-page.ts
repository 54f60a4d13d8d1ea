// Lays report.html beside the report's other files. It is made here and not by the report's stage, since it
// tells when and where things ran, and a report's bytes must not depend on that.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pageFile } from "@mlrb/core/check-published";
import { readJson, writeWhole } from "@mlrb/kit/json-file";
import { type Report, reportFormat } from "@mlrb/report/report";
import type { PageAsked } from "./page-data.ts";

export { pageFile };

/** Gives the page's path; undefined where there is no report of this version's format in the folder. */
export async function writePage(asked: PageAsked): Promise<string | undefined> {
  const report = join(asked.folder, "report.json");
  if (!existsSync(report) || readJson<Partial<Report>>(report).formatVersion !== reportFormat)
    return undefined;
  const [{ page }, { pageData }] = await Promise.all([
    import("@mlrb/report/page/page"), // what it draws with is loaded by those who need it
    import("./page-data.ts"),
  ]);
  const path = join(asked.folder, pageFile);
  writeWhole(path, page(await pageData(asked)));
  return path;
}
