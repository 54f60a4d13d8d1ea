// The methods that a task's rules can name. A new one is a line here and a module next to this one.
import type { TaskRule } from "@mlrb/formats/declared/task";
import { baseApproved, changed, compressedBase, fromScratch, mergeExplained } from "./base-rules.ts";
import { memoryMax } from "./memory-max.ts";
import { parametersMax, safetensorsDtype } from "./model-rules.ts";
import {
  expertsPermitted,
  notTrainedOn,
  provenanceBase,
  provenanceData,
  timeWithinBudget,
} from "./record-rules.ts";
import { type RuleMethod, takesNothing } from "./rule-method.ts";
import { meetOn } from "./rules-on.ts";

export const ruleMethods: Record<string, RuleMethod> = {
  "base-approved": baseApproved,
  changed,
  "compressed-base": compressedBase,
  "experts-permitted": expertsPermitted,
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

/** All problems of a task's rules beyond their shape, one sentence each. */
export function ruleProblems(rules: TaskRule[]): string[] {
  const problems: string[] = [];
  const named = new Map<string, TaskRule["on"][]>();
  for (const { name, on, method: asked, with: given = {} } of rules) {
    const wrong = (text: string) => problems.push(`rule "${name}": ${text}`);
    const before = named.get(name) ?? [];
    if (before.some((other) => meetOn(on, other))) wrong("appears twice for the same kind of data");
    named.set(name, [...before, on]);
    const method = Object.hasOwn(ruleMethods, asked) ? ruleMethods[asked] : undefined;
    if (!method) wrong(`no method "${asked}"; there are ${Object.keys(ruleMethods).join(", ")}`);
    const problem = method?.problem(given);
    if (problem) wrong(`${asked} ${problem}`);
  }
  return problems;
}
