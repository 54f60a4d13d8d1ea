// Removes weights of the attempts of one or several plans, and lists what can no longer run. `attempts thin` and the end
// of a run with `retain: { thin: scored }` call this.

import type { Plan } from "@mlrb/core/plan/plan";
import { forgetUnchanged } from "@mlrb/local/decide/no-op-fast-path";
import { contentIn } from "@mlrb/local/decide/thinned-inputs";
import type { HeldRecord } from "@mlrb/local/records/attempt-records";
import { type ThinnedRecord, thinRecords, type WantedThin } from "@mlrb/local/records/thin-records";
import type { Result } from "@mlrb/local/run/result";
import type { Workspace } from "@mlrb/local/store/workspace";
import { type MayGo, nameBelow, readersOf, shown } from "./thin-plan.ts";

export type PlannedAttempt = {
  held: HeldRecord;
  may: MayGo;
  plan: Plan;
  results: readonly (Result | undefined)[];
};

export type ThinReport = {
  attempts: (ThinnedRecord & PlannedAttempt)[];
  freed: number;
  /** Stages of these attempts that cannot run again, in plan order, without the attempts' own axes. */
  cannotRun: string[];
};

export function thinAttempts(
  planned: readonly PlannedAttempt[],
  workspace: Workspace,
  { why, dryRun }: { why: string; dryRun: boolean },
): ThinReport {
  const wanted = planned.map(
    ({ held, may }): WantedThin => ({ digest: held.digest, record: held.record, outputs: may.outputs, why }),
  );
  const { records, contents, freed } = thinRecords(wanted, workspace, { now: new Date(), dryRun });
  if (records.some(({ damaged }) => damaged.length > 0)) forgetUnchanged(workspace.state);
  const attempts = planned.map((one, at) => ({
    ...one,
    ...records[at]!,
    may: withDamaged(one.may, records[at]!.damaged),
  }));
  const lost = attempts.flatMap(({ may: { instance, outputs }, plan, results }) =>
    instance === undefined
      ? []
      : readersOf(instance, outputs, plan)
          .filter(({ inputs }) =>
            inputs.some(({ from, output }) => {
              const artifact = results[from]?.outputs[output];
              return artifact && contentIn(artifact, workspace.store, (content) => contents.has(content));
            }),
          )
          .map((one) => nameBelow(instance, one)),
  );
  return { attempts, freed, cannotRun: [...new Set(lost)] };
}

/** What was made of the weights is damaged: a run makes it again while the weights are there. */
function withDamaged(may: MayGo, damaged: readonly string[]): MayGo {
  if (damaged.length === 0) return may;
  const why = `its results are damaged; run again, or \`cache gc\` if no plan has them: ${shown(damaged)}`;
  return {
    ...may,
    outputs: [],
    refused: [...may.refused, ...may.outputs.map((output) => ({ output, why }))],
  };
}
