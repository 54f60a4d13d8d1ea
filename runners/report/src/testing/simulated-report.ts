// A report of simulated attempts at seven tasks, with what is true of its agents: the first half of them is better
// at the first `differing` tasks, and all are alike elsewhere. One attempt in five fails and counts as the trivial
// baseline.
import type { Random } from "@mlrb/core/statistics/random";
import type { Report } from "@mlrb/formats/report";
import { agentComparisons } from "../compare/agent-comparisons.ts";
import { overTasks } from "../compare/over-tasks.ts";
import { headline } from "../sections/headline.ts";
import { nastyExample } from "./nasty-example.ts";

type Simulated = { agents: number; attempts: number; differing: number };

const tasks = ["baby", "edge", "merge", "mini", "pile", "proof", "small"];
const baseline = -20;
const failing = 0.2;
/** In standard deviations between attempts: large, so that many tasks are named. */
const shift = 4;
const base = nastyExample().report();
const template = base.cells.find(({ primary, mean }) => primary && mean !== null)!;

function simulatedReport(of: Simulated, random: Random): Report {
  const names = Array.from({ length: of.agents }, (_, at) => `agent-${at}`);
  const cells = tasks.flatMap((task, index) =>
    names.map((agent): Report["cells"][number] => {
      const better = index < of.differing && isFirstHalf(agent, of);
      const counted = Array.from({ length: of.attempts }, () =>
        random.fraction() < failing ? baseline : random.normal() + (better ? shift : 0),
      );
      const mean = counted.reduce((sum, value) => sum + value, 0) / of.attempts;
      const counts = { measured: of.attempts, planned: of.attempts, observations: of.attempts };
      const values = { counted, values: counted, mean, baseline, normalised: [], normalisedMean: null };
      return { ...template, task, agent, direction: "higher", ...counts, ...values };
    }),
  );
  const planned = tasks.map((name) => ({ name, title: name, primary: template.metric }));
  return {
    ...base,
    smoke: false,
    tasks: planned,
    agents: names.map((name) => ({ name, title: name })),
    cells,
    sensitivity: [],
    acrossTasks: overTasks(cells, { tasks: planned, agents: names }),
    agentComparisons: agentComparisons(cells, {
      agents: names,
      attempts: [],
      seeded: () => false,
      scaled: [],
    }),
  };
}

function isFirstHalf(agent: string, { agents }: Simulated): boolean {
  return Number(agent.split("-")[1]) < agents / 2;
}

const falseRateMax = 0.05;

/** The most of `count` reports that may be false: more have a chance of one in 10⁷ if each is with probability 5 %. */
export function falseReportsMax(count: number): number {
  let probability = (1 - falseRateMax) ** count;
  let tail = 1 - probability;
  let most = 0;
  for (; tail > 1e-7; most++) {
    probability *= ((count - most) / (most + 1)) * (falseRateMax / (1 - falseRateMax));
    tail -= probability;
  }
  return most;
}

type Claims = {
  pairs: number;
  named: number;
  /** Whether a named pair or task does not differ, or in the other direction. */
  isFalse: boolean;
  /** Whether the primary test of a pair rejects at 5 %, before any correction. */
  rejects: boolean;
  /** Whether the lines say that nothing could be shown. */
  isHidden: boolean;
};

/** What the first lines of `count` simulated reports say, as they are printed. */
export function simulatedClaims(
  of: Simulated,
  { count, random }: { count: number; random: Random },
): Claims[] {
  return Array.from({ length: count }, () => claims(simulatedReport(of, random), of));
}

function claims(report: Report, of: Simulated): Claims {
  const [, overall = "", single = ""] = headline(report);
  const pairs = overall.includes("the agents differ at some task")
    ? [["agent-0", "agent-1"]]
    : rankedPairs(/By mean rank: ([^.]+)\./.exec(overall)?.[1] ?? "");
  const named = [
    ...single.matchAll(/(agent-\d+) differs from (agent-\d+) and is better more often at ([^;(]+)/g),
  ].flatMap(([, better, worse, at]) =>
    at!
      .trim()
      .split(/, | and /)
      .map((task) => ({ better: better!, worse: worse!, task })),
  );
  const differ = (first: string, second: string) =>
    of.differing > 0 && isFirstHalf(first, of) !== isFirstHalf(second, of);
  return {
    pairs: pairs.length,
    named: named.length,
    isFalse:
      pairs.some(([first, second]) => !differ(first!, second!)) ||
      named.some(
        ({ better, worse, task }) =>
          tasks.indexOf(task) >= of.differing || !isFirstHalf(better, of) || isFirstHalf(worse, of),
      ),
    rejects: report.agentComparisons.some(({ overall }) => overall.kind === "tested" && overall.p <= 0.05),
    isHidden: /could be shown|not tested/.test(overall),
  };
}

/** `a; b, not shown better than c; c`: the other pairs. */
function rankedPairs(text: string): string[][] {
  const entries = text.split("; ").map((entry) => entry.split(/, not shown better than |, | and /));
  return entries.flatMap(([agent, ...open], at) =>
    entries.slice(at + 1).flatMap(([other]) => (open.includes(other!) ? [] : [[agent!, other!]])),
  );
}
