// The condition of a report's attempts. A report holds one: its means and comparisons are over attempts that could
// reach the same.
import type { Condition } from "@mlrb/formats/attempt/condition";
import type { Report } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";

const words: Record<Condition, { name: string; means: string }> = {
  open: { name: "open", means: "agents had a network" },
  sealed: { name: "sealed", means: "agents could only download through the gateway" },
  "no-network": { name: "no network", means: "agents had no network" },
};

/** The condition of all attempts that say one; undefined if none does. */
export function reportCondition({ attempts }: Pick<Report, "attempts">): Condition | undefined {
  return attempts.find(({ condition }) => condition !== undefined)?.condition;
}

/** `official, sealed`: the data and the condition, for titles and captions that are copied one by one. */
export function labelText(report: Pick<Report, "label" | "attempts">): string {
  const condition = reportCondition(report);
  return [
    report.label,
    ...(condition === undefined ? [] : [words[condition].name]),
    ...(isAuthored(report) ? ["authored recordings, no model was called"] : []),
  ].join(", ");
}

/** Whether people wrote the recordings that the attempts replay. */
export function isAuthored({ attempts }: Pick<Report, "attempts">): boolean {
  return attempts.some(({ replay }) => replay?.recording === "authored");
}

/** One sentence, empty if the condition is unknown. */
export function conditionLine(report: Pick<Report, "attempts">): string {
  const condition = reportCondition(report);
  if (condition === undefined) return "";
  const { name, means } = words[condition];
  const unknown = report.attempts.filter((attempt) => attempt.condition === undefined).length;
  return `Condition: ${name} (${means})${unknown > 0 ? `; unknown for ${unknown} attempts` : ""}.`;
}

/** Throws if some attempts replay authored recordings and others do not: no mean, rank or test may hold both. */
export function checkNoneAuthoredBeside(attempts: readonly Attempt[]): void {
  const made = attempts.filter(({ verdict }) => verdict.kind !== "missing");
  const [authored, others] = [true, false].map((is) =>
    made.find(({ replay }) => (replay?.recording === "authored") === is),
  );
  if (!authored || !others) return;
  throw new Error(
    `an authored replay beside other attempts in one report: ${authored.agent} and ${others.agent} at ${others.task}\n  help: no mean may hold both: choose the agents of each with --set agent=…`,
  );
}

/** Throws if the attempts are of two conditions: that is the pipeline's mistake, and their mean would mean nothing. */
export function checkOneCondition(attempts: readonly Attempt[]): void {
  const [first, ...others] = attempts.filter(({ condition }) => condition !== undefined);
  const other = others.find(({ condition }) => condition !== first?.condition);
  if (!first || !other) return;
  const place = ({ task, agent, seed, condition }: Attempt) =>
    `${task}, ${agent}, seed ${seed} (${condition})`;
  throw new Error(
    `attempts of two conditions in one report: ${place(first)} and ${place(other)}\n  help: no mean may hold both: give their stages one network, or use a profile for each condition`,
  );
}
