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

const variants: Record<SensitivityVariant, Variant> = {
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

/** One entry for each primary cell and variant with attempts that the variant is about. */
export function sensitivity(cells: Cell[], attempts: Attempt[]): Sensitivity[] {
  return cells
    .filter(({ primary }) => primary)
    .flatMap((cell) => {
      const own = attempts.filter(({ task, agent }) => task === cell.task && agent === cell.agent);
      return Object.entries(variants).flatMap(([name, { isAbout, as }]): Sensitivity[] => {
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
            mean: mean.kind === "mean" ? mean.value : null,
          },
        ];
      });
    });
}
