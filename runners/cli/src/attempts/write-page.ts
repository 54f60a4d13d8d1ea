// Writes report.html next to the report's other files. Not the report stage writes it: the page shows when and
// where stages ran, and a report's bytes must not depend on that.
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { OutcomeKind } from "@mlrb/core/ports/outcome";
import { pageFile } from "@mlrb/core/spec/check-published";
import { writeWhole } from "@mlrb/kit/json-file";
import type { PageRequest } from "./page-data.ts";

export { pageFile };

/** Returns the page's path; undefined without a report of this version in the folder. Throws on a broken report. */
export async function writePage(asked: PageRequest): Promise<string | undefined> {
  const path = join(asked.folder, "report.json");
  if (!existsSync(path)) return undefined;
  const { readReport } = await import("../show/read-report.ts"); // a run without a report checks none
  const reading = readReport(path);
  if (reading.kind === "foreign") return undefined;
  if (reading.kind === "unreadable") throw new Error(`${path}: ${reading.cause}`);
  const [{ page }, { pageData }] = await Promise.all([
    import("@mlrb/report/page/page"), // loads what draws the page only here
    import("./page-data.ts"),
  ]);
  const file = join(asked.folder, pageFile);
  const data = await pageData({ ...asked, report: reading.value });
  writeWhole(file, page(data));
  const { writeProtocol } = await import("../protocol/write-protocol.ts");
  writeProtocol(asked.folder, data);
  return file;
}

/** The page's path: written again if an instance ran or the report changed. A failure is printed and ends no run. */
export async function refreshPage(
  request: PageRequest,
  { succeeded, failed, skipped, cancelled }: Record<OutcomeKind, number>,
): Promise<string | undefined> {
  const path = join(request.folder, pageFile);
  const changedMs = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const newer = existsSync(path) && changedMs(path) >= changedMs(join(request.folder, "report.json"));
  if (succeeded + failed + skipped + cancelled === 0 && newer) return path;
  try {
    return await writePage(request);
  } catch (error) {
    process.stderr.write(`no-page: ${path} could not be written: ${(error as Error).message}\n`);
    return undefined;
  }
}
