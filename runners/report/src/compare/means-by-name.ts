// Means over valid attempts of the named parts of scores: groups, or secondary measurements. Failed attempts have
// no such parts and the trivial baseline is known only for the whole, so these means are too good.
import { mean } from "@mlrb/core/statistics/mean";
import type { Report } from "@mlrb/formats/report";
import type { AttemptScore } from "@mlrb/formats/report/attempt";
import { byText } from "../read/order.ts";
import { counting } from "./counting.ts";

type Scored = Extract<AttemptScore, { kind: "scored" }>;

/** `attempts` are those of the planned ones that are valid and have the name. */
type ValidMean = { agent: string; mean: number | null; attempts: number; planned: number };

export type NamedMean<Part> = {
  task: string;
  metric: string;
  name: string;
  /** Of every valid attempt with the name. */
  parts: Part[];
  /** One per agent that planned attempts at the task. */
  agents: ValidMean[];
};

/** For every task and metric whose scores have parts, the primary metric first, names in code-unit order. */
export function meansByName<Part extends { value: number }>(
  report: Report,
  partsOf: (score: Scored) => [string, Part][],
): NamedMean<Part>[] {
  return report.tasks.flatMap(({ name: task }) => {
    const cells = report.cells.filter((cell) => cell.task === task);
    const metrics = [...new Set(cells.map(({ metric }) => metric))];
    const agents = [...new Set(cells.map(({ agent }) => agent))];
    const attempts = report.attempts.filter((attempt) => attempt.task === task);
    return metrics.flatMap((metric) => {
      const parts = attempts.flatMap((attempt) => {
        const score = attempt.scores[metric];
        return score?.kind === "scored" && counting(attempt, metric).kind === "valid"
          ? partsOf(score).map(([name, part]) => ({ agent: attempt.agent, name, part }))
          : [];
      });
      const byName = Map.groupBy(parts, ({ name }) => name);
      return [...byName.keys()].sort(byText).map((name): NamedMean<Part> => {
        const having = byName.get(name)!;
        return {
          task,
          metric,
          name,
          parts: having.map(({ part }) => part),
          agents: agents.map((agent) => {
            const values = having.filter((each) => each.agent === agent).map(({ part }) => part.value);
            const planned = attempts.filter((attempt) => attempt.agent === agent).length;
            return { agent, attempts: values.length, planned, mean: mean(values) ?? null };
          }),
        };
      });
    });
  });
}
