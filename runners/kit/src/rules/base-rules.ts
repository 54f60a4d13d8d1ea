// Rules on the models that a submission was made from, for tasks that give models. The stage `identity` compares whole
// tensors; in a pipeline without it, a few values of every matrix are compared here.
import { clip } from "../admission/clip.ts";
import { fingerprint } from "./fingerprint.ts";
import { givenModels, rounding, sampledMatrices } from "./given-models.ts";
import { byIdentity, decideBase, decideChanged, decideCompressed } from "./identity-rules.ts";
import { recognise } from "./recognise.ts";
import { type Finding, notAdmitted, type RuleMethod, takesTexts } from "./rule-method.ts";

/** Most matrices come from the given models: trained further, merged or pruned. */
export const baseApproved: RuleMethod = {
  problem: (given) => takesTexts("models", given),
  decide({ weights, models, identity }, given) {
    if (!weights) return notAdmitted;
    const names = given.models as string[];
    if (identity) return byIdentity(identity, (found) => decideBase(found, names));
    const known = Object.entries(givenModels(models, names)).map(([name, files]) =>
      fingerprint({ name, source: "given with the task", licence: "" }, files),
    );
    const { looked, unreadable, matches } = recognise(weights, known);
    const of = `${matches.length} of ${looked} matrices are those of ${names.join(" or ")}`;
    if (matches.length * 2 >= looked && looked > 0) {
      const least = matches.reduce((least, { correlation }) => Math.min(least, correlation), 1);
      return { answer: "pass", evidence: `${of} (correlation ${least.toFixed(3)} or more)` };
    }
    if ((matches.length + unreadable) * 2 >= looked)
      return {
        answer: "undecided",
        evidence: `${of}; ${unreadable} are in a type, or hold values, that cannot be compared`,
      };
    return { answer: "fail", evidence: of };
  },
};

/** The submission is not an unchanged given model. */
export const changed: RuleMethod = {
  problem: (given) => takesTexts("models", given),
  decide({ weights, models, identity }, given) {
    if (!weights) return notAdmitted;
    if (identity) return byIdentity(identity, (found) => decideChanged(found, given.models as string[]));
    const own = sampledMatrices(weights);
    let alike = "";
    for (const [name, files] of Object.entries(givenModels(models, given.models as string[]))) {
      const theirs = new Map(sampledMatrices(files).matrices.map((one) => [one.name, one]));
      const same = own.matrices.filter((one) => {
        const other = theirs.get(one.name);
        return other?.shape === one.shape && isRounded(one.values, other.values, rounding(one.dtype));
      });
      if (same.length < own.matrices.length) continue;
      if (same.length === theirs.size)
        return { answer: "fail", evidence: `all ${same.length} matrices are those of ${name}, unchanged` };
      alike = name;
    }
    if (alike !== "" && own.unreadable > 0)
      return {
        answer: "undecided",
        evidence: `${own.unreadable} matrices are in a type that cannot be compared; none of the others differs from ${alike}`,
      };
    return { answer: "pass", evidence: `it is none of ${(given.models as string[]).join(", ")}` };
  },
};

/**
 * Every matrix is one of the model's, unchanged or with some zeros, in any layer. Matrices that were trained, or quantised
 * and dequantised, have values that the model lacks.
 */
export const compressedBase: RuleMethod = {
  problem({ model, ...others }) {
    if (typeof model === "string" && Object.keys(others).length === 0) return undefined;
    return `takes { model: name }, got ${JSON.stringify({ model, ...others })}`;
  },
  decide({ weights, models, identity }, { model }): Finding {
    if (!weights) return notAdmitted;
    const name = model as string;
    if (identity) return byIdentity(identity, (found) => decideCompressed(found, name));
    const base = sampledMatrices(givenModels(models, [name])[name]!).matrices;
    const byShape = Map.groupBy(base, ({ shape }) => shape);
    const own = sampledMatrices(weights);
    const reshaped: string[] = [];
    const foreign: string[] = [];
    for (const one of own.matrices) {
      const candidates = byShape.get(one.shape);
      if (!candidates) reshaped.push(one.name);
      else if (!candidates.some((other) => isPruned(one.values, other.values, rounding(one.dtype))))
        foreign.push(one.name);
    }
    const looked = own.matrices.length + own.unreadable;
    if (foreign.length > 0)
      return {
        answer: "fail",
        evidence: `${foreign.length} of ${looked} matrices hold values that ${name} does not, e.g. ${clip(foreign[0]!)}`,
      };
    if (reshaped.length + own.unreadable > 0 || looked === 0)
      return {
        answer: "undecided",
        evidence: `${reshaped.length} of ${looked} matrices have a shape that none of ${name} has, ${own.unreadable} are in a type that cannot be compared; ${restText(looked - reshaped.length - own.unreadable, name)}`,
      };
    return {
      answer: "pass",
      evidence: `all ${looked} matrices are those of ${name} (${base.length}), unchanged or with zeros`,
    };
  },
};

function restText(rest: number, model: string): string {
  return rest === 0
    ? `nothing shows that it was made from ${model}`
    : `the other ${rest} are those of ${model}`;
}

function isRounded(own: number[], theirs: number[], step: number): boolean {
  return own.every((value, at) => Math.abs(value - theirs[at]!) <= step * Math.abs(theirs[at]!));
}

const remainingMin = 8;

/** Equal wherever it is not zero, in enough places to exclude chance. */
function isPruned(own: number[], theirs: number[], step: number): boolean {
  const places = own.flatMap((value, at) => (value === 0 && theirs[at] !== 0 ? [] : [at]));
  return (
    places.length >= remainingMin &&
    isRounded(
      places.map((at) => own[at]!),
      places.map((at) => theirs[at]!),
      step,
    )
  );
}
