// The ways of checking that a task's rules may name. A new one is a line here and a module beside.
import type { TaskRule } from "@mlrb/formats/task";
import { baseApproved, changed, compressedBase } from "./base-rules.ts";
import { memoryMax } from "./memory-max.ts";
import { mergeExplained } from "./merge-explained.ts";
import { fromScratch, parametersMax, safetensorsDtype } from "./model-rules.ts";
import { notTrainedOn, provenanceBase, provenanceData, timeWithinBudget } from "./record-rules.ts";
import { type RuleMethod, takesNothing } from "./rule-method.ts";
import { meetOn } from "./rules-on.ts";

export const ruleMethods: Record<string, RuleMethod> = {
  "base-approved": baseApproved,
  changed,
  "compressed-base": compressedBase,
  "from-scratch": fromScratch,
  "memory-max": memoryMax,
  "merge-explained": mergeExplained,
  "not-trained-on": notTrainedOn,
  "parameters-max": parametersMax,
  "provenance-base": provenanceBase,
  "provenance-data": provenanceData,
  "safetensors-dtype": safetensorsDtype,
  "time-within-budget": timeWithinBudget,
  "unlike-attempts": { problem: takesNothing }, // judged by kinship.ts
};

const sources = ["official", "competition", "interpreted"];
const severities = ["strike", "note"];

/** What is wrong with a task's rules, all of it, one sentence each. */
export function ruleProblems(rules: unknown): string[] {
  if (!Array.isArray(rules)) return ["rules is not a list"];
  const problems: string[] = [];
  const named = new Map<string, (string[] | undefined)[]>();
  for (const [at, rule] of rules.entries() as IterableIterator<[number, Partial<TaskRule> | null]>) {
    const name = rule?.name;
    const wrong = (text: string) =>
      problems.push(`rule ${typeof name === "string" ? `"${name}"` : at + 1}: ${text}`);
    if (typeof name !== "string" || typeof rule?.title !== "string") {
      wrong("needs a name and a title");
      continue;
    }
    const { on } = rule;
    if (on !== undefined && !isKinds(on)) {
      wrong("on lists kinds of data, e.g. [smoke]");
      continue;
    }
    const before = named.get(name) ?? [];
    if (before.some((other) => meetOn(on, other))) wrong("stands twice for the same kind of data");
    named.set(name, [...before, on]);
    if (!sources.includes(rule.source!)) wrong(`source is one of ${sources.join(", ")}`);
    if (!severities.includes(rule.severity!)) wrong(`severity is one of ${severities.join(", ")}`);
    const method = Object.hasOwn(ruleMethods, rule.method ?? "") ? ruleMethods[rule.method!] : undefined;
    if (!method) wrong(`no method "${rule.method}"; there are ${Object.keys(ruleMethods).join(", ")}`);
    const problem = method?.problem(rule.with ?? {});
    if (problem) wrong(`${rule.method} ${problem}`);
  }
  return problems;
}

function isKinds(on: unknown): on is string[] {
  return Array.isArray(on) && on.length > 0 && on.every((kind) => typeof kind === "string");
}
