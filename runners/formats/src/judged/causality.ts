// causality.json: whether a submission's predictions use the text that they predict, with everything to repeat the test.
// Scores and verdicts read only its verdict, from admission.json, which is the same on every machine if the verdict is.
import {
  amount,
  anyText,
  count,
  fileFormat,
  listOf,
  number,
  oneOf,
  sha256,
  text,
  wholeExcept,
  wholeObject,
} from "../schema.ts";
import { causalityVerdict, untestedKinds } from "./admission.ts";

const cut = wholeObject({
  text: { ...text, description: "the scored text, e.g. documents/ID/WINDOW" },
  sequence: { ...count, description: "which of its token sequences, where it exceeds the model's context" },
  token: { ...count, description: "place of the first token of the input that was replaced" },
  gain: { ...number, description: "nats that the true text after the cut gave to the tokens up to the cut" },
  confirmed: { ...listOf(number), description: "gains over other replacements; their median decides" },
});

const measured = {
  ...wholeObject({
    dtype: oneOf("float64", "float32", "float16", "bfloat16"),
    tolerance: wholeObject({
      cut: { ...amount, description: "nats of one cut that rounding explains" },
      mean: { ...amount, description: "nats of the mean over cuts" },
    }),
    texts: { ...count, description: "texts with at least one cut" },
    leakingTexts: count,
    largestGain: { ...number, description: "nats, of one cut" },
    meanGain: { ...number, description: "nats of the token at the cut, over all cuts" },
    mayHide: {
      ...wholeObject({
        foundWith: { const: 0.99 },
        texts: { ...amount, description: "the largest share of leaking texts that could be missed" },
        tokens: { ...amount, description: "the largest share of leaking tokens that could be missed" },
        natsPerToken: {
          ...amount,
          description: "the gain of that share over a uniform prediction, and what the tolerance hides",
        },
      }),
      description: "what the test would find with a probability of 0.99",
    },
    cuts: listOf(cut),
  }),
  description: "absent if undecided",
} as const;

export const causality = fileFormat(
  "mlrb causality",
  wholeExcept(["seed", "measured", "untested"], {
    formatVersion: { const: 1 },
    verdict: causalityVerdict,
    detail: anyText,
    seed: { ...sha256, description: "repeats the test: --secret-seed of pipelines/steps/causality.py" },
    measured,
    untested: untestedKinds,
  }),
);
