// What the attempts of a pipeline and profile have spent while a run goes on: those that run now, and those that
// ended or were lost since it began. For the live lines only; the end of a run has the full account.
import type { Workspace } from "@mlrb/local/store/workspace";
import { amountWords, costSum } from "../gates/spent.ts";
import { recordedCost } from "./attempt-sums.ts";
import { unrecordedAttempts } from "./unrecorded-attempts.ts";

type Since = {
  plan: { pipeline: string; profile: string };
  /** Attempts that this run has started and that have a record now, as stage instances. */
  recorded: readonly string[];
  /** When the run began, as ISO time. */
  began: string;
};

export type SpendingNow = {
  /** `spent 1.5 GPU hours and 0.40 dollars`; empty if nothing was spent. */
  words: string;
  /** Of each running attempt that has spent money, by stage instance: `0.40 dollars`. */
  running: Map<string, string>;
};

export function spendingNow(
  { state, attempts }: Pick<Workspace, "state" | "attempts">,
  { plan: { pipeline, profile }, recorded, began }: Since,
): SpendingNow {
  const held = recorded.flatMap((stage) => attempts.inSlot({ pipeline, profile, stage }) ?? []);
  const others = unrecordedAttempts(state, () => held).filter(
    ({ kind, card }) =>
      card.slot.pipeline === pipeline &&
      card.slot.profile === profile &&
      (kind === "running" || card.startedAt >= began),
  );
  const words = amountWords(
    costSum([...held.map(({ record }) => recordedCost(record)), ...others.map(({ cost }) => cost)]),
  );
  const running = others.flatMap(({ kind, card, cost: { dollars } }): [string, string][] =>
    kind === "running" && dollars !== 0
      ? [[card.slot.stage, `${dollars === null ? "unknown" : dollars.toFixed(2)} dollars`]]
      : [],
  );
  return { words: words === "nothing" ? "" : `spent ${words}`, running: new Map(running) };
}
