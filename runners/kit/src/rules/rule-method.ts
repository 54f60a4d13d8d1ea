// The interface of a rule's method. Bad arguments are a mistake in task.yaml and stop the stage; any content of a
// submission gets an answer.

import type { Ledger } from "@mlrb/formats/attempt/ledger";
import type { Identity } from "@mlrb/formats/judged/identity";
import type { MemoryMeasurement } from "@mlrb/formats/judged/memory";
import type { RuleAnswer } from "@mlrb/formats/judged/verdict";
import type { RecordedRepository } from "../attempts/recorded-downloads.ts";
import type { Safetensors } from "../safetensors/safetensors.ts";
import type { Json } from "../stage.ts";

export type RuleArguments = Record<string, Json>;

export type RuleContext = {
  /** The submission's folder. */
  folder: string;
  /** Its weights with checked headers; undefined if it was not admitted. */
  weights: Safetensors[] | undefined;
  /** A string is the reason why the attempt's ledger cannot be used. */
  ledger: Ledger | string;
  budgetMs: number;
  /** What the stage `identity` found; undefined in a pipeline without it. */
  identity?: Identity | undefined;
  /** What entered a sealed attempt; undefined in another condition, or where the record cannot be trusted. */
  downloads?: RecordedRepository[] | undefined;
  /** What the stage `memory` measured; undefined in a pipeline without it. */
  memory?: MemoryMeasurement[] | undefined;
};

/** Evidence holds no durations, hosts or paths: equal submissions have equal verdicts. */
export type Finding = { answer: RuleAnswer; evidence: string };

export type RuleMethod = {
  /** The problem with a rule's `with:`, in words; undefined if there is none. */
  problem(given: RuleArguments): string | undefined;
  /** Absent if one submission cannot decide: the rule is judged over all attempts of the task. */
  decide?(context: RuleContext, given: RuleArguments): Finding;
};

export const passed = (evidence: string): Finding => ({ answer: "pass", evidence });
export const failed = (evidence: string): Finding => ({ answer: "fail", evidence });
export const open = (evidence: string): Finding => ({ answer: "undecided", evidence });

export const notAdmitted: Finding = open("the submission was not admitted, so its weights were not checked");

/** For methods without arguments. */
export function takesNothing(given: RuleArguments): string | undefined {
  const names = Object.keys(given);
  return names.length === 0 ? undefined : `takes no arguments, got ${names.join(", ")}`;
}

/** For methods with exactly one argument, a list of texts. */
export function takesTexts(name: string, given: RuleArguments): string | undefined {
  const value = given[name];
  const fits = Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string");
  if (fits && Object.keys(given).length === 1) return undefined;
  return `takes { ${name}: [text, …] }, got ${JSON.stringify(given)}`;
}
