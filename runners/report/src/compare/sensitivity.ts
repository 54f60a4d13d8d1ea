// How much the primary means depend on open questions: each variant counts the attempts that it is about in
// another way. A variant without such attempts in a cell is left out there.

import { intentionToTreat } from "@mlrb/core/statistics/intention-to-treat";
import { isUndisturbed } from "@mlrb/formats/declared/intervention";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import type { Sensitivity, SensitivityVariant } from "@mlrb/formats/report/sensitivity";
import { undecidedCause } from "../read/undecided-cause.ts";
import { asUndisturbed, type Counting, counting } from "./counting.ts";

type Variant = {
  /** Whether the variant counts this attempt in another way, or says in which way it was counted. */
  isAbout: (attempt: Attempt, metric: string) => boolean;
  /** How the attempt enters the mean. */
  as: (attempt: Attempt, metric: string) => Counting;
};

const isUndecided = (attempt: Attempt, metric: string) =>
  attempt.verdict.kind === "undecided" && counting(attempt, metric).kind === "valid";

/** Its settings are undecided, so no scorer read it. The agent could have handed in other settings. */
const isUnscored = (attempt: Attempt) =>
  isUndisturbed(attempt) &&
  attempt.verdict.kind !== "missing" &&
  undecidedCause(attempt.verdict.rules) !== undefined;

type MarkedVariant = Extract<SensitivityVariant, `marked-${string}`>;

const variants: Record<Exclude<SensitivityVariant, MarkedVariant>, Variant> = {
  "undecided-as-pass": { isAbout: isUndecided, as: counting },
  "undecided-as-baseline": {
    isAbout: (attempt, metric) => isUndecided(attempt, metric) || isUnscored(attempt),
    as: () => ({ kind: "failed", because: "disqualified" }),
  },
  "without-decisions": {
    isAbout: ({ verdict }) => verdict.kind !== "missing" && verdict.machine !== verdict.kind,
    as: ({ verdict, ...attempt }, metric) => {
      const machine = verdict.kind === "missing" ? verdict : { ...verdict, kind: verdict.machine };
      return counting({ ...attempt, verdict: machine }, metric);
    },
  },
  "not-scorable-as-missing": {
    isAbout: ({ verdict }) => verdict.kind === "rejected" && verdict.notScorable === true,
    as: () => ({ kind: "missing", cause: "such a model cannot be scored" }),
  },
  "without-resumed": {
    isAbout: (attempt, metric) =>
      attempt.resumed !== undefined && counting(attempt, metric).kind !== "missing",
    as: () => ({ kind: "missing", cause: "its supervisor or host died meanwhile" }),
  },
  "with-interventions": {
    isAbout: (attempt, metric) =>
      !isUndisturbed(attempt) && asUndisturbed(attempt, metric).kind !== "missing",
    as: asUndisturbed,
  },
};

/** Of each judge by itself: judges of different models are wrong in different ways. */
function markedVariants(attempts: Attempt[]) {
  const judges = new Set(attempts.flatMap(({ marks = [] }) => marks.map(({ judge }) => judge)));
  return [...judges].sort().flatMap((judge) => {
    const isAbout: Variant["isAbout"] = (attempt, metric) =>
      attempt.marks?.some((one) => one.judge === judge) === true &&
      counting(attempt, metric).kind !== "missing";
    const as: Record<MarkedVariant, Counting> = {
      "marked-as-baseline": { kind: "failed", because: "disqualified" },
      "marked-as-missing": { kind: "missing", cause: "a judge marked it" },
    };
    return Object.entries(as).map(([name, way]) => ({ name, judge, isAbout, as: () => way }));
  });
}

/** One entry for each primary cell and variant with attempts that the variant is about. */
export function sensitivity(cells: Cell[], attempts: Attempt[]): Sensitivity[] {
  const fixed = Object.entries(variants).map(([name, variant]) => ({ name, judge: undefined, ...variant }));
  const all = [...fixed, ...markedVariants(attempts)];
  return cells
    .filter(({ primary }) => primary)
    .flatMap((cell) => {
      const own = attempts.filter(({ task, agent }) => task === cell.task && agent === cell.agent);
      return all.flatMap(({ name, judge, isAbout, as }): Sensitivity[] => {
        const about = own.filter((attempt) => isAbout(attempt, cell.metric));
        if (about.length === 0) return [];
        const ways = own.map((attempt) =>
          isAbout(attempt, cell.metric) ? as(attempt, cell.metric) : counting(attempt, cell.metric),
        );
        const { task, agent, metric, direction } = cell;
        const { mean, measured } = intentionToTreat(ways, {
          baseline: cell.baseline ?? undefined,
          direction,
        });
        return [
          {
            ...{ task, agent, metric, variant: name as SensitivityVariant, attempts: about.length, measured },
            ...(judge !== undefined && { judge }),
            mean: mean.kind === "mean" ? mean.value : null,
          },
        ];
      });
    });
}
