// Whether a team does more than its parts: under each arm, which holds time, machine hours or dollars equal, a team
// is compared with the best of k single attempts, which share no work, and with one agent that has all of it.
import { splitAgentName } from "@mlrb/core/spec/agent-model";
import { mean } from "@mlrb/core/statistics/mean";
import { meanInterval } from "@mlrb/core/statistics/mean-interval";
import type { Report } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import type { Together, TogetherArm, TogetherSide } from "@mlrb/formats/report/together";
import { agentComparisons } from "./agent-comparisons.ts";
import { counting } from "./counting.ts";
import { ofWholeTasks, toScale } from "./ladder.ts";
import { untestableReasons } from "./left-out-reasons.ts";

type Asked = {
  arms: Record<string, { team: string; solo: string; bestOf: string; k: number }>;
  primaryArm: string;
  dollarsPerMachineHour: number | null;
};

/** A side at one task. `isWhole`: every value is of a valid attempt. */
type Side = { what: TogetherSide["side"]; k: number; agent: string; cell: Cell; isWhole: boolean };

export function together(report: Report, { arms, primaryArm, dollarsPerMachineHour }: Asked): Together {
  const whole = ofWholeTasks(report);
  return {
    dollarsPerMachineHour,
    arms: Object.entries(arms).map(([name, arm]) =>
      armOf(whole, { name, ...arm, primary: name === primaryArm }),
    ),
  };
}

function armOf(
  report: Report,
  arm: Pick<TogetherArm, "name" | "primary" | "team" | "solo" | "bestOf" | "k">,
): TogetherArm {
  const without: string[] = [];
  const named = (name: string) => {
    const agents = agentsCalled(report, name);
    const why = agents.length === 0 ? "is not planned" : "is planned with several models";
    if (agents.length !== 1) without.push(`${name} ${why}`);
    return agents.length === 1 ? agents[0]! : name;
  };
  const [team, solo, bestOf] = [named(arm.team), named(arm.solo), named(arm.bestOf)];
  const teams = single(report, team, "team");
  const solos = single(report, solo, "solo");
  const best = chosen(report, { agent: bestOf, k: arm.k });
  if (best.length === 0) without.push(`the best of ${arm.k} is not known: see params.best-of`);
  const compare = (others: Side[]) => {
    if (teams.length * others.length === 0) return null;
    const cells = [...teams, ...others].map(({ cell }) => cell);
    const agents = [teams[0]!.cell.agent, others[0]!.cell.agent];
    const scaled = report.acrossTasks.tasks.map(({ task }) => task);
    // an agent's seeds are no pairs with groups of several seeds
    return agentComparisons(cells, { agents, attempts: [], seeded: () => false, scaled })[0]!;
  };
  return {
    ...{ ...arm, team, solo, bestOf, without },
    sides: [...teams, ...best, ...solos].map((side) => shown(report, side)),
    ...{ overBestOf: compare(best), overSolo: compare(solos) },
  };
}

/** Also with the model that a run chose: `any-team+purse` is called any-team@openai:m+purse then. */
function agentsCalled({ agents }: Report, name: string): string[] {
  if (agents.some((agent) => agent.name === name)) return [name];
  const { preset, allowance } = splitAgentName(name);
  return agents
    .map((agent) => agent.name)
    .filter((one) => {
      const own = splitAgentName(one);
      return own.preset === preset && own.allowance === allowance;
    });
}

function cellsOf(report: Report, agent: string): Cell[] {
  return report.cells.filter((cell) => cell.primary && cell.agent === agent);
}

function attemptsOf(report: Report, { task, agent }: Pick<Cell, "task" | "agent">): Attempt[] {
  return report.attempts.filter((one) => one.task === task && one.agent === agent);
}

function isValid(attempt: Attempt | undefined, { metric }: Cell): boolean {
  return attempt !== undefined && counting(attempt, metric).kind === "valid";
}

function single(report: Report, agent: string, what: "team" | "solo"): Side[] {
  return cellsOf(report, agent).map((cell) => ({
    ...{ what, agent, cell, k: 1 },
    isWhole: attemptsOf(report, cell).every((attempt) => isValid(attempt, cell)),
  }));
}

/** The groups of the report's best of k as attempts of an agent of their own. */
function chosen(report: Report, { agent, k }: { agent: string; k: number }): Side[] {
  return cellsOf(report, agent).flatMap((cell): Side[] => {
    const own = report.bestOf?.cells.find(
      (one) => one.task === cell.task && one.agent === agent && one.k === k,
    );
    if (!own || own.groups.length === 0) return [];
    const counted = own.groups.map(({ value }) => value);
    const known = counted.filter((value) => value !== null);
    const isScaled = cell.normalisedWithheld === null;
    const attempts = attemptsOf(report, cell);
    return [
      {
        ...{ what: "best-of-k", k, agent },
        isWhole: own.groups.every(({ chosen }) =>
          isValid(
            attempts.find(({ seed }) => seed === chosen),
            cell,
          ),
        ),
        cell: {
          ...cell,
          agent: `best of ${k} of ${agent}`,
          seeds: own.groups.map((_, at) => at + 1),
          counted,
          normalised: counted.map((value) => (value === null || !isScaled ? null : toScale(cell, value))),
          planned: own.groups.length,
          measured: known.length,
          // repeats of one observation make groups that are repeats
          observations: cell.observations < cell.measured ? 0 : known.length,
          mean: mean(known) ?? null,
        },
      },
    ];
  });
}

function shown(report: Report, { what, k, agent, cell, isWhole }: Side): TogetherSide {
  const attempts = attemptsOf(report, { task: cell.task, agent });
  const values = cell.counted.filter((value) => value !== null);
  const isSpread = values.some((value) => value !== values[0]);
  const isTestable = isWhole && isSpread && untestableReasons(cell).length === 0;
  const limits: Record<string, number> = {};
  for (const { research } of attempts) {
    const reached =
      research?.kind === "found" ? research.limits.filter((one) => budgetLimits.includes(one)) : [];
    const limit = research?.kind === "found" ? (reached[0] ?? "none") : "unknown";
    limits[limit] = (limits[limit] ?? 0) + 1;
  }
  return {
    ...{ task: cell.task, side: what, agent, k, metric: cell.metric },
    ...{ n: values.length, planned: cell.planned, mean: cell.mean },
    interval: isTestable ? (meanInterval(values) ?? null) : null,
    budget: attempts.find(({ budget }) => budget !== undefined)?.budget ?? null,
    limits,
  };
}

/** As iterations name them; those of the sandbox are others. */
const budgetLimits = ["time", "token", "dollar", "turn"];

const level = 0.05;

/** Which side the primary contrast shows to be better; undefined: it shows none. Never of smoke. */
export function primaryClaim({
  together,
  smoke,
}: Pick<Report, "together" | "smoke">): "team" | "best-of-k" | undefined {
  const overall = together?.arms.find(({ primary }) => primary)?.overBestOf?.overall;
  if (smoke || overall?.kind !== "tested" || overall.p > level || overall.statistic === 0.5) return undefined;
  return overall.statistic > 0.5 ? "team" : "best-of-k";
}
