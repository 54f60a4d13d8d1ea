// Whether a run gave other scores to submissions that the last results already had, e.g. after a correction of a scorer.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Plan } from "@mlrb/core/plan/plan";
import { resultsFolder } from "@mlrb/local/run/publish-results";
import type { Result } from "@mlrb/local/run/result";
import type { StateFolder } from "@mlrb/local/store/state-folder";
import type { Rescored } from "@mlrb/report/against/rescored";

export type RescoredRun = Rescored & {
  /** The run that published the earlier results; absent if its journal is gone. */
  since?: string;
};

type Before = {
  /** Undefined if no score of an unchanged submission differs in the results that are now in `folder`. */
  rescored(folder: string, at: { state: StateFolder; run: string }): RescoredRun | undefined;
};

/**
 * The results of the same pipeline, profile and selection, before this run replaces them. Undefined without any, or if no
 * score was measured. Nothing is loaded for such a run.
 */
export async function resultsBefore(
  plan: Plan,
  { results, root }: { results: (Result | undefined)[]; root: string },
): Promise<Before | undefined> {
  const measured = plan.instances.some(
    ({ index, stage }) => stage.role === "score" && results[index]?.outcome.kind === "succeeded",
  );
  const path = join(root, resultsFolder(plan), "report.json");
  if (!measured || !existsSync(path)) return undefined;
  const [{ readReport }, { noEvidence, scoreChanges }, { rescored }, { runsWith }] = await Promise.all([
    import("../show/read-report.ts"),
    import("@mlrb/report/against/score-change"),
    import("@mlrb/report/against/rescored"),
    import("../against/key-of-run.ts"),
  ]);
  const old = readReport(path);
  if (old.kind !== "ok") return undefined;
  return {
    rescored(folder, { state, run }) {
      const now = readReport(join(folder, "report.json"));
      if (now.kind !== "ok") return undefined;
      const sides = { old: old.value, now: now.value };
      const found = rescored(scoreChanges(sides, noEvidence), sides);
      if (!found) return undefined;
      const stages = plan.instances.filter(({ stage }) => stage.publishes).map(({ id }) => id);
      const { pipeline, profile, selection } = plan;
      const earlier = runsWith(state.journals, { pipeline, profile, stages, most: 10 });
      const since = earlier.find((one) => one.run !== run && one.selection === selection)?.run;
      return { ...found, ...(since !== undefined && { since }) };
    },
  };
}
