// Rules on whose weights a submission has. The stage `identity` compares whole tensors of the loaded model.
import type { Identity } from "@mlrb/formats/judged/identity";
import {
  decideBase,
  decideChanged,
  decideCompressed,
  decideMixture,
  decideScratch,
} from "./identity-rules.ts";
import {
  type Finding,
  notAdmitted,
  open,
  type RuleArguments,
  type RuleMethod,
  takesNothing,
  takesTexts,
} from "./rule-method.ts";

function compared(
  problem: RuleMethod["problem"],
  decide: (found: Identity, given: RuleArguments) => Finding,
): RuleMethod {
  return {
    problem,
    decide({ weights, identity }, given) {
      if (!weights) return notAdmitted;
      if (!identity) return open("the pipeline has no stage `identity`, so its weights were not compared");
      return identity.detail === undefined ? decide(identity, given) : open(identity.detail);
    },
  };
}

/** Of a rule on several given models. */
function comparedModels(decide: (found: Identity, names: string[]) => Finding): RuleMethod {
  return compared(
    (given) => takesTexts("models", given),
    (found, { models }) => decide(found, models as string[]),
  );
}

/** Most matrices come from the given models: trained further, merged or pruned. */
export const baseApproved: RuleMethod = comparedModels(decideBase);

/** The submission is not an unchanged given model. */
export const changed: RuleMethod = comparedModels(decideChanged);

/** A mixture of the given models: later training also changes values on which all models agree. */
export const mergeExplained: RuleMethod = comparedModels(decideMixture);

/** Every matrix is one of the model's, unchanged, with zeros, or with rows or columns removed. */
export const compressedBase: RuleMethod = compared(
  ({ model, ...others }) =>
    typeof model === "string" && Object.keys(others).length === 0
      ? undefined
      : `takes { model: name }, got ${JSON.stringify({ model, ...others })}`,
  (found, { model }) => decideCompressed(found, model as string),
);

/** No matrix is one of a known model's. */
export const fromScratch: RuleMethod = compared(takesNothing, decideScratch);
