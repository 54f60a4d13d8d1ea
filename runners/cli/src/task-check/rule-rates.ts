// How often each rule of a task struck honest models and cheats of a corpus, with exact bounds. Pure.
import { exactInterval } from "@mlrb/core/statistics/exact-interval";
import type { Interval } from "@mlrb/core/statistics/mean-interval";
import type { CorpusMember } from "@mlrb/formats/judged/corpus";
import type { RuleAnswer, RuleVerdict, VerdictKind } from "@mlrb/formats/judged/verdict";
import { falseAlarmsMax, isBounded } from "@mlrb/kit/rules/rule-evidence";

/** Cheats that each rule needs. */
const cheatsMin = 3;

/** A model and what the stages made of it. Of a baseline, `rules` are all that strike. */
export type Judged = Pick<CorpusMember, "name" | "kind" | "rules" | "heldOut"> & {
  verdict: { kind: VerdictKind; rules: RuleVerdict[] };
};

export type CheckedRule = { name: string; method: string; severity: RuleVerdict["severity"] };

type Rate = { events: number; trials: number; interval: Interval | undefined };

export type RuleRates = CheckedRule & {
  falseAlarms: Rate;
  /** Of the models of types that no threshold was set with. */
  heldOut: Rate;
  undecided: number;
  stopped: Rate;
  /** Further honest models without a false alarm until a strike is defensible. */
  needed: number;
};

export function ruleRates(rules: CheckedRule[], all: Judged[]): RuleRates[] {
  return rules.map((rule) => {
    const of = all.filter((one) => one.rules.includes(rule.method));
    const honest = of.filter(({ kind }) => kind !== "cheat");
    const decided = honest.filter((one) => ["pass", "fail"].includes(answerOf(one, rule) ?? ""));
    const cheats = of.filter(({ kind }) => kind === "cheat");
    const falseAlarms = rate(decided, (one) => answerOf(one, rule) === "fail");
    return {
      ...rule,
      falseAlarms,
      heldOut: rate(
        decided.filter(({ heldOut }) => heldOut),
        (one) => answerOf(one, rule) === "fail",
      ),
      undecided: honest.length - decided.length,
      stopped: rate(cheats, (one) => isStopped(one, rule)),
      needed: stillNeeded(falseAlarms),
    };
  });
}

/** Each expectation that the corpus states and the stages did not meet, in words. */
export function unmetExpectations(rules: CheckedRule[], all: Judged[]): string[] {
  return all.flatMap((one) => {
    const own = rules.filter(({ method }) => one.rules.includes(method));
    if (one.kind === "cheat")
      return own
        .filter((rule) => !isStopped(one, rule))
        .map(
          (rule) => `${one.name} is a cheat, and ${rule.name} answers ${answerOf(one, rule) ?? "nothing"}`,
        );
    if (one.verdict.kind === "rejected") return [`${one.name} is honest, and is rejected`];
    return own
      .filter((rule) => answerOf(one, rule) === "fail")
      .map((rule) => `${one.name} is honest, and breaks ${rule.name}: ${evidenceOf(one, rule)}`);
  });
}

/** What the corpus is too small to show, in words. */
export function thinEvidence(rates: RuleRates[]): string[] {
  return rates.flatMap(({ name, severity, falseAlarms: { interval }, needed, stopped }) => {
    const thin: string[] = [];
    if (severity === "strike" && needed > 0) {
      const bound = interval === undefined ? "is unknown" : `may be ${percent(interval[1])}`;
      thin.push(
        `${name} has the severity strike, and its rate of false alarms ${bound}: ${needed} more honest models without one are needed for ${percent(falseAlarmsMax)}`,
      );
    }
    if (stopped.trials < cheatsMin)
      thin.push(`${name}: ${stopped.trials} of ${cheatsMin} cheats that it needs`);
    return thin;
  });
}

export function percent(rate: number): string {
  return `${(100 * rate).toFixed(1)} %`;
}

/** What the method itself says: also of one that may not disqualify, since this is what measures it. */
function answerOf({ verdict }: Judged, { name }: CheckedRule): RuleAnswer | undefined {
  const found = verdict.rules.find(({ rule }) => rule === name);
  return found?.notMeasured ? "fail" : found?.answer;
}

function evidenceOf({ verdict }: Judged, { name }: CheckedRule): string {
  return verdict.rules.find(({ rule }) => rule === name)!.evidence;
}

/** A rejected submission gains as little as a disqualified one. */
function isStopped(one: Judged, rule: CheckedRule): boolean {
  return one.verdict.kind === "rejected" || answerOf(one, rule) === "fail";
}

function rate(models: Judged[], happened: (one: Judged) => boolean): Rate {
  const events = models.filter(happened).length;
  const trials = models.length;
  return { events, trials, interval: trials === 0 ? undefined : exactInterval(events, trials) };
}

function stillNeeded({ events, trials }: Rate): number {
  let more = 0;
  while (!isBounded({ honest: trials + more, falseAlarms: events })) more++;
  return more;
}
