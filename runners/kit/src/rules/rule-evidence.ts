// Which methods may disqualify: those that were measured on enough honest models. docs/rules.md has the table.

export type RuleEvidence = {
  /** Honest models, or attempts, that the method decided. */
  honest: number;
  /** Those of them that it failed. */
  falseAlarms: number;
  /** The command or the test that counted them. */
  by: string;
  /** Of the measurement. */
  date: string;
};

/** A method disqualifies only where the upper 95 % bound of its rate of false alarms is at most this. */
const falseAlarmsMax = 0.05;

const onCorpus = "tests/corpora/models";
const onGiven = "identity-rates.thorough.test.ts";

/**
 * By method. A method that is not here was not measured, e.g. since it rests on what the agent declares, or is
 * known to fail an honest recipe that the measure lacks (compressed-base: docs/rules.md).
 */
export const ruleEvidence: Record<string, RuleEvidence> = {
  "base-approved": { honest: 76, falseAlarms: 0, by: onGiven, date: "2026-11-26" },
  "from-scratch": { honest: 90, falseAlarms: 0, by: "identity_rates.py", date: "2026-11-25" },
  "memory-max": { honest: 78, falseAlarms: 0, by: onCorpus, date: "2026-11-26" },
  "no-look-ahead": { honest: 93, falseAlarms: 0, by: onCorpus, date: "2026-11-26" },
  "parameters-max": { honest: 84, falseAlarms: 0, by: onCorpus, date: "2026-11-25" },
  "safetensors-dtype": { honest: 93, falseAlarms: 0, by: onCorpus, date: "2026-11-26" },
  "time-within-budget": {
    honest: 80,
    falseAlarms: 0,
    by: "deadline-rates.thorough.test.ts",
    date: "2026-11-25",
  },
};

/**
 * Whether the upper end of the two-sided 95 % interval of Clopper and Pearson (1934) is at most 5 %: whether a
 * rate of 5 % gives so few false alarms in at most one of 40 samples.
 */
export function isBounded({ honest, falseAlarms }: Pick<RuleEvidence, "honest" | "falseAlarms">): boolean {
  let chance = (1 - falseAlarmsMax) ** honest; // of no false alarm
  let below = chance;
  for (let alarms = 1; alarms <= falseAlarms; alarms++) {
    chance *= ((honest - alarms + 1) / alarms) * (falseAlarmsMax / (1 - falseAlarmsMax));
    below += chance;
  }
  return below <= 0.025;
}

export function mayDisqualify(method: string): boolean {
  const evidence = Object.hasOwn(ruleEvidence, method) ? ruleEvidence[method] : undefined;
  return evidence !== undefined && isBounded(evidence);
}
