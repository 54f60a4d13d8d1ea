// The research in the attempts: what ran, what was measured, and what ended them, as their trajectories record it
// (docs/measures.md).

import type { BenchmarkCalls } from "@mlrb/formats/attempt/iterations";
import type { Report } from "@mlrb/formats/report";
import type { Attempt, AttemptResearch } from "@mlrb/formats/report/attempt";
import { attemptItems, notMeasuredItems } from "./report-words.ts";
import type { Item, Section } from "./table.ts";
import { column, numeric, tableOf, taskGroups } from "./table-of.ts";

type FoundResearch = Extract<AttemptResearch, { kind: "found" }>;

export function researchSection(report: Report): Section {
  const groups = taskGroups(report, (name) => agentRows(report, name));
  return {
    heading: `Research${report.smoke ? ` (${report.label})` : ""}`,
    caption:
      "From trajectories, one value per seed; ? is not measured. Iterations: a program ran, and something changed or was " +
      "measured. Valid: distinct submissions that can be loaded. Runs: programs that ended (of these, with an exit code other " +
      "than 0). Measured: runs that printed results in JSON, in a dictionary of Trainer or in a table of lm_eval; other " +
      "output is not read. Benchmark calls: tool calls that name the scored benchmark, whatever they do with it (– if it has " +
      "no public name). Below: what ended attempts and what they left, as recorded.",
    tables: [
      tableOf("What the agents did", groups, [
        column("agent", ({ agent }) => agent),
        bySeed("iterations", ({ executed }) => `${executed}`),
        bySeed("valid", ({ distinctValid }) => shown(distinctValid)),
        bySeed("runs", ({ runs }) =>
          runs === null ? "?" : `${runs.ended}${runs.failed > 0 ? ` (${runs.failed})` : ""}`,
        ),
        bySeed("measured", ({ runs }) => `${runs?.measured ?? "?"}`),
        bySeed("benchmark calls", ({ benchmarkCalls }) => benchmarkCallsText(benchmarkCalls)),
        {
          ...bySeed("limits reached", ({ limits }) => (limits.length > 0 ? limits.join("+") : "–")),
          rigid: false,
        },
      ]),
    ],
    items: [...ends(report), ...notMeasuredItems(report.attempts, "research")],
  };
}

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

/** What `show` makes of each seed in turn. */
function bySeed(head: string, show: (found: FoundResearch) => string) {
  return numeric(head, ({ attempts }: AgentRow) =>
    attempts.map(({ research }) => (research?.kind === "found" ? show(research) : "?")).join(", "),
  );
}

function ends(report: Report): Item[] {
  const found = report.attempts.flatMap((attempt) => {
    const texts = attempt.research?.kind === "found" ? endTexts(attempt.research) : [];
    return texts.length === 0 ? [] : [{ attempt, text: texts.join("; ") }];
  });
  return attemptItems(found);
}

/** What ended an attempt and what it left. */
export function endTexts({ ends }: FoundResearch): string[] {
  return ends.map(({ detail }) => detail);
}

/** Three significant digits; a dash for an unknown value. */
function shown(value: number | null): string {
  return value === null ? "–" : String(Number(value.toPrecision(3)));
}
