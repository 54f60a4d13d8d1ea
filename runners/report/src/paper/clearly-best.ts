// Which mean of a row is bold in a paper's tables.
import type { Report } from "@mlrb/formats/report";
import type { Cell } from "@mlrb/formats/report/cell";
import { leftOutReasons } from "../compare/left-out-reasons.ts";

/**
 * The cell with the best mean of `cells`, which are of one task and metric, if its agent is ahead of every other
 * one beyond item noise; else undefined. A difference that could be noise makes nothing bold, and neither does a
 * cell whose mean is not ranked.
 */
export function clearlyBest(
  cells: readonly Cell[],
  { comparisons }: Pick<Report, "comparisons">,
): Cell | undefined {
  if (cells.some((cell) => leftOutReasons(cell).length > 0)) return undefined;
  const measured = cells.filter(({ mean }) => mean !== null);
  if (measured.length < 2) return undefined;
  const [best] = measured.toSorted((a, b) =>
    a.direction === "higher" ? b.mean! - a.mean! : a.mean! - b.mean!,
  );
  const isAhead = measured.every(
    ({ agent, mean }) =>
      agent === best!.agent ||
      (mean !== best!.mean &&
        comparisons.some(
          (each) =>
            each.kind === "compared" &&
            each.task === best!.task &&
            each.metric === best!.metric &&
            each.agents.includes(agent) &&
            each.better === best!.agent &&
            each.clear === true,
        )),
  );
  return isAhead ? best : undefined;
}
