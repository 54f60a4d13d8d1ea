// Prints the tables of a benchmark's report, or of a check of judges; a pipeline without one prints none.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Report } from "@mlrb/formats/report";
import type { Times } from "@mlrb/formats/times";
import { stdoutLook } from "./terminal.ts";

type Shown = {
  /** Also scores by group. */
  groups?: boolean;
  /** An earlier run found that the files follow their formats. */
  checked?: boolean;
  /** Only the table of means, for the end of a run. */
  main?: boolean;
};

/** `folder`: the published results. Returns the printed report, and whether its files follow their formats. */
export async function showReport(
  folder: string,
  more: Shown = {},
): Promise<{ report: Report; followed: boolean } | undefined> {
  const path = join(folder, "report.json");
  if (!existsSync(path)) return showJudgeCheck(folder);
  const reading = more.checked ? parsed<Report>(path) : (await import("./read-report.ts")).readReport(path);
  if (reading.kind !== "ok") {
    process.stdout.write(
      `\n${path} is not a report of this version (${reading.cause}): rerun the pipeline's report stage\n`,
    );
    return undefined;
  }
  const report = reading.value;
  const { terminalMainTable, terminalSection, terminalTable } = await import(
    "@mlrb/report/formats/terminal-table"
  );
  const look = stdoutLook();
  process.stdout.write(`\n${more.main ? terminalMainTable(report, look) : terminalTable(report, look)}`);
  if (more.groups) {
    const [{ groupsSection }, { plainSection }] = await Promise.all([
      import("@mlrb/report/formats/groups"),
      import("@mlrb/report/sections/sections"),
    ]);
    process.stdout.write(`\n${terminalSection(plainSection(groupsSection(report)), look)}`);
  }
  const times = join(folder, "times.json");
  let followed = true;
  if (existsSync(times)) {
    const [{ timesSection }, { costsSection }, { togetherCostsSections }] = await Promise.all([
      import("@mlrb/report/sections/times"),
      import("@mlrb/report/paper/costs"),
      import("@mlrb/report/sections/together-section"),
    ]);
    const reading = more.checked ? parsed<Times>(times) : (await import("./read-report.ts")).readTimes(times);
    if (reading.kind !== "ok") followed = false;
    else if (!more.main)
      for (const section of [
        costsSection(report, reading.value),
        ...togetherCostsSections(report, reading.value),
        timesSection(reading.value),
      ])
        process.stdout.write(`\n${terminalSection(section, look)}`);
  }
  return { report, followed };
}

async function showJudgeCheck(folder: string): Promise<undefined> {
  const path = join(folder, "judge-check.json");
  if (!existsSync(path)) return;
  const [{ judgeChecks }, { readFormat }, { judgeCheckSection }, { terminalSection }, { plainSection }] =
    await Promise.all([
      import("@mlrb/formats/judged/judge-check"),
      import("@mlrb/formats/read-format"),
      import("@mlrb/report/judged/judge-check-section"),
      import("@mlrb/report/formats/terminal-table"),
      import("@mlrb/report/sections/sections"),
    ]);
  const reading = readFormat(judgeChecks, readFileSync(path, "utf8"));
  // a user's own pipeline may publish another file of this name
  if (reading.kind === "ok")
    process.stdout.write(
      `\n${terminalSection(plainSection(judgeCheckSection(reading.value)), stdoutLook())}`,
    );
}

/** Reads a file that an earlier run has checked, without loading the formats: they take a fifth of a no-op run. */
function parsed<T>(path: string): { kind: "ok"; value: T } {
  return { kind: "ok", value: JSON.parse(readFileSync(path, "utf8")) as T };
}
