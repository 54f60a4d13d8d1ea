// People's decisions on rules next to the machine's answers. A decision that counts replaces the answer of its
// rule in the verdict; the machine's verdict stays in the report.

import { originText } from "@mlrb/core/key/reasons";
import { type MemberDecision, nameMax, reasonMax } from "@mlrb/formats/attempt/adjudication";
import { kindOfRules, type RuleVerdict, type VerdictKind } from "@mlrb/formats/judged/verdict";
import type { Attempt } from "@mlrb/formats/report/attempt";
import { plainText } from "./plain-text.ts";

/** The verdict's kind with the decisions that count. A submission that was not admitted stays rejected. */
export function decidedKind(
  kind: VerdictKind,
  rules: readonly RuleVerdict[],
  decisions: readonly MemberDecision[],
): VerdictKind {
  const counting = new Map(
    decisions.flatMap(({ rule, verdict, counts }) => (counts ? [[rule, verdict] as const] : [])),
  );
  if (kind === "rejected" || !rules.some(({ rule }) => counting.has(rule))) return kind;
  return kindOfRules(rules.map((rule) => ({ ...rule, answer: counting.get(rule.rule) ?? rule.answer })));
}

/** Decisions with plain texts: people type them, and archives of other machines bring them. */
export function plainDecisions(decisions: readonly MemberDecision[]): MemberDecision[] {
  return decisions.map(({ rule, by, reason, origin, ...decision }) => ({
    ...decision,
    rule: plainText(rule, nameMax),
    by: plainText(by, nameMax),
    reason: plainText(reason, reasonMax),
    ...(origin && {
      origin: { ...origin, signedBy: origin.signedBy === null ? null : plainText(origin.signedBy) },
    }),
  }));
}

/** `pass, by Ada: the weights are its own`, with what a reader must know of its origin. */
export function decisionText({ verdict, by, reason, counts, origin }: MemberDecision): string {
  const from = origin && `imported, ${originText(origin)}`;
  const care = [...(from ? [from] : []), ...(counts ? [] : ["not used"])];
  return plainText(`${verdict}, by ${by}${care.length > 0 ? ` (${care.join("; ")})` : ""}: ${reason}`, 1200);
}

/** The decisions on a rule of the attempt, oldest first. */
export function decisionsOn({ decisions = [] }: Pick<Attempt, "decisions">, rule: string): MemberDecision[] {
  return decisions.filter((one) => one.rule === rule);
}

/** Decisions that change no verdict: on questions that mark attempts, and on rules that it was not judged by. */
export function otherDecisions({ verdict, decisions = [] }: Attempt): MemberDecision[] {
  const known = new Set(verdict.kind === "missing" ? [] : verdict.rules.map(({ rule }) => rule));
  return decisions.filter(({ rule }) => !known.has(rule));
}
