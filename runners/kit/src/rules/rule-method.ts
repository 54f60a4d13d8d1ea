// What a way of checking a rule gets and gives. Bad arguments are a mistake in task.yaml and stop the
// stage; whatever the submission holds is answered.

import type { Ledger } from "@mlrb/formats/attempt/ledger";
import type { Fingerprint } from "@mlrb/formats/judged/fingerprint";
import type { RuleAnswer } from "@mlrb/formats/judged/verdict";
import type { Safetensors } from "../safetensors/safetensors.ts";
import type { Json } from "../stage.ts";

export type RuleArguments = Record<string, Json>;

export type RuleContext = {
  /** The submission's folder. */
  folder: string;
  /** Its weights with checked headers; undefined when it was not admitted. */
  weights: Safetensors[] | undefined;
  /** A text says why the record of the attempt cannot be relied on. */
  ledger: Ledger | string;
  budgetMs: number;
  knownWeights: Fingerprint[];
  /** Folder of the models that the task gave, each in a folder of its own; undefined where it gives none. */
  models?: string | undefined;
};

/** Evidence holds no durations, hosts or paths: equal submissions have equal verdicts. */
export type Finding = { answer: RuleAnswer; evidence: string };

export type RuleMethod = {
  /** What is wrong with a rule's `with:`, in words; undefined when nothing is. */
  problem(given: RuleArguments): string | undefined;
  /** Absent where one submission decides nothing: the rule is judged with all attempts of the task at hand. */
  decide?(context: RuleContext, given: RuleArguments): Finding;
};

export const notAdmitted: Finding = {
  answer: "cannot-tell",
  evidence: "the submission was not admitted, so its weights were not looked at",
};

/** For methods without arguments. */
export function takesNothing(given: RuleArguments): string | undefined {
  const names = Object.keys(given);
  return names.length === 0 ? undefined : `takes no arguments, got ${names.join(", ")}`;
}

/** For methods that take exactly one, a list of texts. */
export function takesTexts(name: string, given: RuleArguments): string | undefined {
  const value = given[name];
  const fits = Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string");
  if (fits && Object.keys(given).length === 1) return undefined;
  return `takes { ${name}: [text, …] }, got ${JSON.stringify(given)}`;
}
