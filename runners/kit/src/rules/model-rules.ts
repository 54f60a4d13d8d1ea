// Rules about the weights alone.
import { clip } from "../admission/clip.ts";
import { describeWeights, dtypesOf, isTable } from "./describe-weights.ts";
import { failed, notAdmitted, open, passed, type RuleMethod, takesTexts } from "./rule-method.ts";

export const safetensorsDtype: RuleMethod = {
  problem: (given) => takesTexts("allowed", given),
  decide({ weights }, given) {
    if (!weights) return notAdmitted;
    const allowed = given.allowed as string[];
    const tensors = weights.flatMap((file) => file.tensors);
    const counted = tensors.filter((tensor) => !isTable(tensor));
    if (counted.length === 0) return open("there are no weights");
    const dtypes = dtypesOf(counted);
    const others = dtypes.filter((dtype) => !allowed.includes(dtype));
    const which = counted.length === tensors.length ? "tensors" : "weights";
    if (others.length === 0) return passed(`all ${which} are ${dtypes.join(" or ")}`);
    const example = counted.find((tensor) => tensor.dtype === others[0])!;
    return failed(
      `${others.join(", ")} found, e.g. tensor ${clip(example.name)}; allowed: ${allowed.join(", ")}`,
    );
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
    if (parameters > (max as number)) return failed(`${parameters} parameters; at most ${max} are allowed`);
    // e.g. four-bit weights in bytes: one stored value is more than one parameter
    if (packed > 0)
      return open(
        `${parameters} stored values, ${packed} of them in a type that may pack several parameters in one`,
      );
    return passed(`${parameters} parameters; at most ${max} are allowed`);
  },
};
