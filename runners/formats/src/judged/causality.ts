// causality.json: whether a submission's predictions use the text that they predict, with everything to repeat the
// test. Scores and verdicts read only its verdict, from admission.json, which is the same on every machine if the
// verdict is.
import * as t from "../schema.ts";
import { causalityVerdict, untestedKinds } from "./admission.ts";

const cut = t.wholeObject({
  text: t.about(t.text, "the scored text, e.g. documents/ID/WINDOW"),
  sequence: t.about(t.count, "which of its token sequences, where it exceeds the model's context"),
  token: t.about(t.count, "place of the first token of the input that was replaced"),
  gain: t.about(t.number, "nats that the true text after the cut gave to the tokens up to the cut"),
  confirmed: t.about(t.listOf(t.number), "gains over other replacements; their median decides"),
});

const measured = t.about(
  t.wholeObject({
    dtype: t.oneOf("float64", "float32", "float16", "bfloat16"),
    tolerance: t.wholeObject({
      cut: t.about(t.amount, "nats of one cut that rounding explains"),
      mean: t.about(t.amount, "nats of the mean over cuts"),
    }),
    texts: t.about(t.count, "texts with at least one cut"),
    leakingTexts: t.count,
    largestGain: t.about(t.number, "nats, of one cut"),
    meanGain: t.about(t.number, "nats of the token at the cut, over all cuts"),
    mayHide: t.about(
      t.wholeObject({
        foundWith: { const: 0.99 },
        texts: t.about(t.amount, "the largest share of leaking texts that could be missed"),
        tokens: t.about(t.amount, "the largest share of leaking tokens that could be missed"),
        natsPerToken: t.about(
          t.amount,
          "the gain of that share over a uniform prediction, and what the tolerance hides",
        ),
      }),
      "what the test would find with a probability of 0.99",
    ),
    cuts: t.listOf(cut),
  }),
  "absent if undecided",
);

export const causality = t.fileFormat(
  "mlrb causality",
  t.wholeExcept(["seed", "measured", "untested"], {
    formatVersion: { const: 1 },
    verdict: causalityVerdict,
    detail: t.anyText,
    seed: t.about(t.sha256, "repeats the test: --secret-seed of pipelines/steps/causality.py"),
    measured,
    untested: untestedKinds,
  }),
);
