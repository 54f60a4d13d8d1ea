// The research in the attempts: experiments that ran, self-reported results, and where agents failed. Found by rules
// over trajectories; docs/measures/iterations.md has their agreement with people.

import type { BenchmarkCalls } from "@mlrb/formats/attempt/iterations";
import type { Report } from "@mlrb/formats/report";
import type { Attempt, AttemptResearch } from "@mlrb/formats/report/attempt";
import { storedMetric } from "../units/shown-metric.ts";
import { scoreError, sentenceNumber } from "./digits-text.ts";
import { attemptItems } from "./report-words.ts";
import type { Item, Section } from "./table.ts";
import { tableOf, taskGroups } from "./table-of.ts";

type FoundResearch = Extract<AttemptResearch, { kind: "found" }>;
type AttemptWithResearch = { attempt: Attempt; found: FoundResearch };

export function researchSection(report: Report): Section {
  const found = report.attempts.flatMap((attempt): AttemptWithResearch[] =>
    attempt.research?.kind === "found" ? [{ attempt, found: attempt.research }] : [],
  );
  const groups = taskGroups(report, (name) => agentRows(report, name));
  return {
    heading: `Research${report.smoke ? ` (${report.label})` : ""}`,
    caption:
      "Found by rules over trajectories, one value per seed; ? is not measured. Iterations: a program ran and a digest " +
      "changed (+ only claimed). Valid: distinct submissions that can be loaded. Runs: programs that ended (of these, " +
      "failed). Evaluations: runs that print a metric. Memory: runs without enough memory. Benchmark calls: tool calls that name " +
      "the scored benchmark, whatever they do with it (– if it has no public name). Self-reported minus measured: the agent's last value of a metric that a scorer also " +
      "measures, minus the score. Best minus final: of the self-reported values. Failures, below, are found by rules that were " +
      "not measured on real trajectories.",
    tables: [
      tableOf({
        title: "What the agents did",
        groups,
        columns: [
          { head: "agent", cell: ({ agent }) => agent },
          {
            head: "iterations",
            rigid: true,
            cell: each(({ executed, claimedOnly }) =>
              [executed, ...(claimedOnly > 0 ? [claimedOnly] : [])].join(" + "),
            ),
          },
          { head: "valid", rigid: true, cell: each(({ distinctValid }) => shown(distinctValid)) },
          {
            head: "runs",
            rigid: true,
            cell: each(({ runs }) =>
              runs === null ? "?" : `${runs.ended}${runs.failed > 0 ? ` (${runs.failed})` : ""}`,
            ),
          },
          { head: "evaluations", rigid: true, cell: each(({ runs }) => `${runs?.evaluations ?? "?"}`) },
          { head: "memory", rigid: true, cell: each(({ runs }) => `${runs?.outOfMemory ?? "?"}`) },
          {
            head: "benchmark calls",
            rigid: true,
            cell: each(({ benchmarkCalls }) => benchmarkCallsText(benchmarkCalls)),
          },
          {
            head: "limits reached",
            cell: each(({ limits }) => (limits.length > 0 ? limits.join("+") : "–")),
          },
        ],
      }),
      tableOf({
        title: "What they reported",
        groups,
        columns: [
          { head: "agent", cell: ({ agent }) => agent },
          {
            head: "self-reported minus measured",
            cell: each(({ saidMinusMeasured: value, metric }, { scores }) => {
              if (value === null || metric === null) return "–";
              return sentenceNumber(storedMetric(report, metric), value, scoreError(scores[metric]));
            }),
          },
          { head: "best minus final", cell: each(({ bestMinusFinal }) => shown(bestMinusFinal)) },
        ],
      }),
    ],
    items: [...failures(found), ...notMeasured(report)],
  };
}

/** Reports of earlier versions do not have the count. */
function benchmarkCallsText(found: BenchmarkCalls | undefined): string {
  if (found?.kind === "counted") return `${found.calls}`;
  return found?.reason === "no-public-names" ? "–" : "?";
}

type AgentRow = { agent: string; attempts: Attempt[] };

function agentRows(report: Report, task: string): AgentRow[] {
  const rows = report.agents.map(({ name: agent }) => ({
    agent,
    attempts: report.attempts.filter((one) => one.task === task && one.agent === agent),
  }));
  return rows.filter(({ attempts }) => attempts.some(({ research }) => research !== null));
}

/** `shown` for each seed in turn. */
function each(show: (found: FoundResearch, attempt: Attempt) => string) {
  return ({ attempts }: AgentRow) =>
    attempts
      .map((attempt) => (attempt.research?.kind === "found" ? show(attempt.research, attempt) : "?"))
      .join(", ");
}

function failures(researched: AttemptWithResearch[]): Item[] {
  const failed = researched.flatMap(({ attempt, found: { failure } }) => {
    if (failure === null) return [];
    const { pattern, whose, detail } = failure;
    return [{ attempt, text: `${whose}: ${pattern}: ${detail}` }];
  });
  return attemptItems(failed);
}

function notMeasured(report: Report): Item[] {
  const causes = report.attempts.flatMap((attempt) =>
    attempt.research?.kind === "not-measured"
      ? [{ attempt, text: `not measured: ${attempt.research.cause}` }]
      : [],
  );
  return attemptItems(causes);
}

/** Three significant digits; a dash for an unknown value. */
function shown(value: number | null): string {
  return value === null ? "–" : String(Number(value.toPrecision(3)));
}
