// Whether a run gave other scores to submissions that the last results already had, e.g. after a correction of a
// scorer.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Plan } from "@mlrb/core/plan/plan";
import { hashFile } from "@mlrb/local/digests/hash-file";
import { publishedFiles, resultsFolder } from "@mlrb/local/run/publish-results";
import type { Result } from "@mlrb/local/run/result";
import type { Workspace } from "@mlrb/local/store/workspace";
import type { Rescored } from "@mlrb/report/against/rescored";

export type RescoredRun = Rescored & {
  /** The run that published the earlier results; absent if its journal is gone. */
  since?: string;
};

type Before = {
  /** Undefined if no score of an unchanged submission differs in the results that are now in `folder`. */
  rescored(folder: string, run: string): RescoredRun | undefined;
};

/**
 * The results of the same pipeline, profile and selection, before this run replaces them: also with scores from
 * the cache, after a correction is undone. Undefined without any, or if the report stays as it is; then nothing is
 * loaded.
 */
export async function resultsBefore(
  plan: Plan,
  { results, workspace }: { results: (Result | undefined)[]; workspace: Workspace },
): Promise<Before | undefined> {
  const path = join(workspace.state.root, resultsFolder(plan), "report.json");
  const next = publishedFiles(plan, results, workspace).files.get("report.json");
  if (next === undefined || !existsSync(path) || hashFile(path) === next) return undefined;
  const [{ readReport }, { noEvidence, scoreChanges }, { rescored }, { runsWith }] = await Promise.all([
    import("../show/read-report.ts"),
    import("@mlrb/report/against/score-change"),
    import("@mlrb/report/against/rescored"),
    import("./key-of-run.ts"),
  ]);
  const old = readReport(path);
  if (old.kind !== "ok") return undefined;
  return {
    rescored(folder, run) {
      const now = readReport(join(folder, "report.json"));
      if (now.kind !== "ok") return undefined;
      const sides = { old: old.value, now: now.value };
      const found = rescored(scoreChanges(sides, noEvidence), sides);
      if (!found) return undefined;
      const stages = plan.instances.filter(({ stage }) => stage.publishes).map(({ id }) => id);
      const { pipeline, profile, selection } = plan;
      const earlier = runsWith(workspace.state.journals, { pipeline, profile, stages, most: 10 });
      const since = earlier.find((one) => one.run !== run && one.selection === selection)?.run;
      return { ...found, ...(since !== undefined && { since }) };
    },
  };
}
