// Whether a submission is a mixture of the given models. The stage `identity` fits whole tensors; in a pipeline without it,
// a few values of every matrix are judged here.
import { clip } from "../admission/clip.ts";
import { givenModels, rounding, type Sampled, sampledMatrices } from "./given-models.ts";
import { byIdentity, decideMixture } from "./identity-rules.ts";
import { samples } from "./positions.ts";
import { type Finding, notAdmitted, type RuleMethod, takesTexts } from "./rule-method.ts";

/**
 * A matrix is explained if it is a weighted sum of the models' matrices of the same name, with weights that add up to one
 * (averages, task arithmetic, layers of one model), or if its values are between theirs (methods that choose value by
 * value). Later training also changes values on which all models agree, which no mixture does.
 */
export const mergeExplained: RuleMethod = {
  problem: (given) => takesTexts("models", given),
  decide({ weights, models, identity }, given): Finding {
    if (!weights) return notAdmitted;
    const names = given.models as string[];
    if (identity) return byIdentity(identity, (found) => decideMixture(found, names));
    const sides = Object.values(givenModels(models, names)).map(
      (files) => new Map(sampledMatrices(files).matrices.map((one) => [one.name, one])),
    );
    const own = sampledMatrices(weights);
    const strange: string[] = [];
    const unexplained: string[] = [];
    for (const one of own.matrices) {
      const theirs = sides.flatMap((side) => side.get(one.name) ?? []);
      if (theirs.length < sides.length || theirs.some(({ shape }) => shape !== one.shape))
        strange.push(one.name);
      else if (!isMixture(one, theirs) && !isBetween(one, theirs)) unexplained.push(one.name);
    }
    const looked = own.matrices.length + own.unreadable;
    if (unexplained.length > 0)
      return {
        answer: "fail",
        evidence: `${unexplained.length} of ${looked} matrices are no mixture of ${names.join(", ")}, e.g. ${clip(unexplained[0]!)}`,
      };
    if (strange.length + own.unreadable > 0 || looked === 0)
      return {
        answer: "undecided",
        evidence: `${strange.length} of ${looked} matrices have a name or shape that the models lack, ${own.unreadable} are in a type that cannot be compared`,
      };
    return {
      answer: "pass",
      evidence: `all ${looked} matrices are mixtures of ${names.join(", ")} at the ${samples} places compared in each`,
    };
  },
};

/** Sums of several rounded terms have a larger error than each term. */
const slack = 2;

function isMixture(own: Sampled, theirs: Sampled[]): boolean {
  const [first, ...others] = theirs.map(({ values }) => values) as [number[], ...number[][]];
  const target = own.values.map((value, at) => value - first[at]!);
  const rest = residual(
    target,
    others.map((values) => values.map((value, at) => value - first[at]!)),
  );
  const step = rounding(own.dtype);
  return length(rest) <= slack * step * length(own.values);
}

/** `target` minus its projection on the span of `columns` (Gram and Schmidt). */
function residual(target: number[], columns: number[][]): number[] {
  let rest = target;
  const basis: number[][] = [];
  for (const column of columns) {
    const fresh = basis.reduce((left, unit) => minus(left, unit, dot(left, unit)), column);
    const size = length(fresh);
    if (!(size > 1e-6 * length(column))) continue; // linearly dependent, or zero
    const unit = fresh.map((value) => value / size);
    basis.push(unit);
    rest = minus(rest, unit, dot(rest, unit));
  }
  return rest;
}

function isBetween(own: Sampled, theirs: Sampled[]): boolean {
  const step = slack * rounding(own.dtype);
  return own.values.every((value, at) => {
    const around = theirs.map(({ values }) => values[at]!);
    const give = step * Math.max(...around.map(Math.abs));
    return value >= Math.min(...around) - give && value <= Math.max(...around) + give;
  });
}

function minus(from: number[], unit: number[], times: number): number[] {
  return from.map((value, at) => value - times * unit[at]!);
}

function dot(a: number[], b: number[]): number {
  return a.reduce((sum, value, at) => sum + value * b[at]!, 0);
}

function length(values: number[]): number {
  return Math.sqrt(dot(values, values));
}
