// What research the attempts were: experiments that ran, what agents said of their own results, and where they
// failed. By rules over their trajectories, whose agreement with people is printed in docs/measures/iterations.md.

import type { Report } from "@mlrb/formats/report";
import type { Attempt, AttemptResearch } from "@mlrb/formats/report/attempt";
import { attemptsText, decidedWord, grouped, taskTitle } from "./report-words.ts";
import { type Item, type Section, type TableCell, textCell } from "./table.ts";

type FoundResearch = Extract<AttemptResearch, { kind: "found" }>;
type AttemptWithResearch = { attempt: Attempt; found: FoundResearch };

export function researchSection(report: Report): Section {
  const told = report.attempts.flatMap((attempt): AttemptWithResearch[] =>
    attempt.research?.kind === "found" ? [{ attempt, found: attempt.research }] : [],
  );
  return {
    heading: `Research${report.smoke ? ` (${report.label})` : ""}`,
    caption:
      "Found by rules over trajectories, one value per seed; ? is not measured. Iterations: a program ran and a digest " +
      "changed (+ only claimed). Self-reported minus measured: the agent's last value of a metric that a scorer also " +
      "measures, minus the score. Best minus final: of the self-reported values.",
    tables: [
      {
        title: "",
        columns: [
          { head: "agent", rigid: false },
          { head: "iterations", rigid: false },
          { head: "self-reported minus measured", rigid: false },
          { head: "best minus final", rigid: false },
          { head: "failed at", rigid: false },
        ],
        groups: report.tasks
          .map(({ name }) => ({ name, title: taskTitle(report, name), rows: rows(report, name) }))
          .filter(({ rows: own }) => own.length > 0),
      },
    ],
    items: [...failures(told), ...notMeasured(report)],
  };
}

function rows(report: Report, task: string): TableCell[][] {
  return report.agents.flatMap(({ name: agent }) => {
    const own = report.attempts.filter((each) => each.task === task && each.agent === agent);
    if (own.every(({ research }) => research === null)) return [];
    const each = (say: (found: FoundResearch) => string) =>
      textCell(own.map(({ research }) => (research?.kind === "found" ? say(research) : "?")).join(", "));
    return [
      [
        textCell(agent),
        each(({ executed, claimedOnly }) =>
          claimedOnly > 0 ? `${executed} + ${claimedOnly}` : `${executed}`,
        ),
        each(({ saidMinusMeasured }) => shown(saidMinusMeasured)),
        each(({ bestMinusFinal }) => shown(bestMinusFinal)),
        each(({ failure }) => (failure ? decidedWord(failure.where) : "–")),
      ],
    ];
  });
}

function failures(told: AttemptWithResearch[]): Item[] {
  return grouped(
    told.filter(({ found }) => found.failure !== null),
    ({ attempt, found: { failure } }) => [
      attempt.task,
      failure!.pattern,
      failure!.whose,
      failure!.where,
      failure!.detail,
    ],
    (same): Item => {
      const { pattern, whose, where, detail } = same[0]!.found.failure!;
      return {
        head: `${same[0]!.attempt.task}, ${attemptsText(same.map(({ attempt }) => attempt))}`,
        text: `${whose}, ${where === "cannot-tell" ? "at an undecided stage" : `at ${where}`}: ${pattern}: ${detail}`,
      };
    },
  );
}

function notMeasured(report: Report): Item[] {
  const causes = report.attempts.flatMap((attempt) =>
    attempt.research?.kind === "not-measured" ? [{ attempt, cause: attempt.research.cause }] : [],
  );
  return grouped(
    causes,
    ({ attempt, cause }) => [attempt.task, cause],
    (same) => ({
      head: `${same[0]!.attempt.task}, ${attemptsText(same.map(({ attempt }) => attempt))}`,
      text: `not measured: ${same[0]!.cause}`,
    }),
  );
}

/** Three digits that count; what is not known is a dash. */
function shown(value: number | null): string {
  return value === null ? "–" : String(Number(value.toPrecision(3)));
}
