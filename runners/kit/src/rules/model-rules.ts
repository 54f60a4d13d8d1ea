// Rules about the weights alone.
import { clip } from "../admission/clip.ts";
import { describeWeights, dtypesOf, isTable } from "./describe-weights.ts";
import { byIdentity, decideScratch } from "./identity-rules.ts";
import { recognise } from "./recognise.ts";
import { notAdmitted, type RuleMethod, takesNothing, takesTexts } from "./rule-method.ts";

export const safetensorsDtype: RuleMethod = {
  problem: (given) => takesTexts("allowed", given),
  decide({ weights }, given) {
    if (!weights) return notAdmitted;
    const allowed = given.allowed as string[];
    const tensors = weights.flatMap((file) => file.tensors);
    const counted = tensors.filter((tensor) => !isTable(tensor));
    if (counted.length === 0) return { answer: "undecided", evidence: "there are no weights" };
    const dtypes = dtypesOf(counted);
    const others = dtypes.filter((dtype) => !allowed.includes(dtype));
    const which = counted.length === tensors.length ? "tensors" : "weights";
    if (others.length === 0) return { answer: "pass", evidence: `all ${which} are ${dtypes.join(" or ")}` };
    const example = counted.find((tensor) => tensor.dtype === others[0])!;
    return {
      answer: "fail",
      evidence: `${others.join(", ")} found, e.g. tensor ${clip(example.name)}; allowed: ${allowed.join(", ")}`,
    };
  },
};

export const parametersMax: RuleMethod = {
  problem({ max, ...others }) {
    if (Number.isSafeInteger(max) && (max as number) > 0 && Object.keys(others).length === 0)
      return undefined;
    return `takes { max: whole number }, got ${JSON.stringify({ max, ...others })}`;
  },
  decide({ weights }, { max }) {
    if (!weights) return notAdmitted;
    const { parameters, packed } = describeWeights(weights);
    if (parameters > (max as number))
      return { answer: "fail", evidence: `${parameters} parameters; at most ${max} are allowed` };
    // e.g. four-bit weights in bytes: one stored value is more than one parameter
    if (packed > 0)
      return {
        answer: "undecided",
        evidence: `${parameters} stored values, ${packed} of them in a type that may pack several parameters in one`,
      };
    return { answer: "pass", evidence: `${parameters} parameters; at most ${max} are allowed` };
  },
};

export const fromScratch: RuleMethod = {
  problem: takesNothing,
  decide({ weights, knownWeights, identity }) {
    if (!weights) return notAdmitted;
    if (identity) return byIdentity(identity, decideScratch);
    if (knownWeights.length === 0)
      return { answer: "undecided", evidence: "there are no fingerprints of known weights" };
    const { looked, unreadable, matches } = recognise(weights, knownWeights);
    if (matches.length > 0) {
      const first = [...matches].sort((a, b) => b.correlation - a.correlation)[0]!;
      return {
        answer: "fail",
        evidence:
          `${matches.length} of ${looked} matrices are those of a published model, ` +
          `e.g. ${clip(first.tensor)} is ${first.known} of ${first.model} (correlation ${first.correlation.toFixed(3)})`,
      };
    }
    if (unreadable > 0 || looked === 0)
      return {
        answer: "undecided",
        evidence: `${unreadable} of ${looked} matrices are in a type, or hold values, that cannot be compared`,
      };
    // an absence of matches shows little: only these few models were looked for
    const models = knownWeights.map(({ name }) => name).join(", ");
    const known = knownWeights.length === 1 ? "1 known model" : `${knownWeights.length} known models`;
    return { answer: "pass", evidence: `no sign of the ${known} (${models}) in ${looked} matrices` };
  },
};
