// Whether two submissions of one agent differ beyond item noise: the same paired comparison of items as between
// agents.
import type { Report } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import type { CellAttempt } from "../compare/cell.ts";
import { comparisonError, comparisons, itemsOf } from "../compare/comparisons.ts";
import type { ChangeEvidence, Sides } from "./score-change.ts";

export type ItemNoise = ReturnType<typeof itemNoise>;

/**
 * The attempts of one cell, old and new, seed by seed. `difference`: new minus old, averaged over `seeds`, on the
 * items that both have. `standardError`: over items of these submissions; null for a single item. `beyond`:
 * whether the difference exceeds two standard errors; null without one.
 */
export function itemNoise(
  place: Pick<Cell, "task" | "agent" | "metric">,
  { sides, evidence }: { sides: Sides; evidence: ChangeEvidence },
) {
  const untested = (why: string) => ({ kind: "not-tested" as const, why });
  const metric = sides.now.metrics.find(({ name }) => name === place.metric);
  if (!metric) return untested("the metric is not described");
  const members = (side: "old" | "now") =>
    attemptsOf(sides[side], place).map((attempt): CellAttempt => {
      const samples = (of: Attempt) => evidence.samples(side, { ...place, seed: of.seed });
      // the two sides are compared as two agents are
      return { attempt: { ...attempt, agent: side }, items: itemsOf(attempt, place.metric, { samples }) };
    });
  const [found] = comparisons([members("now"), members("old")], metric);
  if (!found) return untested("a side has no attempts");
  if (found.kind === "not-compared") return untested(found.why);
  const { difference, clear, items, seeds, leftOut } = found;
  return {
    kind: "tested" as const,
    ...{ difference, standardError: comparisonError(found), beyond: clear, items, seeds, leftOut },
  };
}

function attemptsOf(
  { attempts }: Report,
  { task, agent, metric }: Pick<Cell, "task" | "agent" | "metric">,
): Attempt[] {
  return attempts.filter((one) => one.task === task && one.agent === agent && one.scores[metric]);
}
