// Published files share one folder, so their names must differ. Names of files are checked here. The contents of a
// published folder are known only when it is materialized, and publish-results checks them then.
// Pure: no disk, no clock.

import type { PlannedStage } from "../plan/plan.ts";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import type { YamlSource } from "../yaml/yaml-source.ts";

export const reportFile = "report.json";

export const pageFile = "report.html";
export const protocolFiles = { json: "protocol.json", latex: "protocol.tex" } as const;

/** The files that the program itself writes next to a report. */
export const besideReport: readonly string[] = [pageFile, ...Object.values(protocolFiles)];

/** The name as disks see it that ignore case and Unicode composition. */
export function sameOnDisk(path: string): string {
  return path.normalize("NFC").toLowerCase();
}

export function checkPublished(stages: readonly PlannedStage[], source: YamlSource): Diagnostic[] {
  const problems: Diagnostic[] = [];
  const taken = new Map<string, { stage: string; output: string; line: number }>();
  const publishing = stages.filter(({ publishes }) => publishes);
  const isReport = publishing.some(({ gives }) => gives.some(({ file }) => file === reportFile));
  for (const stage of publishing) {
    for (const { name: output, file } of stage.gives.filter(({ kind }) => kind === "file")) {
      const place = source.place(["stages", stage.name, "gives", output]);
      const name = sameOnDisk(file);
      const twin = taken.get(name);
      if (twin?.stage === stage.name) continue; // reported by check-stage
      if (!twin) taken.set(name, { stage: stage.name, output, line: place.line });
      if (!twin && !(isReport && besideReport.includes(name))) continue;
      const other = twin
        ? `"${twin.stage}" (output "${twin.output}", line ${twin.line})`
        : "the program itself, next to a report";
      problems.push({
        code: "published-twice",
        message: `"${stage.name}" publishes "${file}", and so does ${other}`,
        place,
        help: "published files share one folder: rename one of them with { file: NAME }",
      });
    }
  }
  return problems;
}
