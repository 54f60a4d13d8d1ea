// What an attempt built, next to its verdict. It decides nothing. What the harness found is apart from what the agent
// says of itself.
import { recordedKind } from "../attempt/download-events.ts";
import { anyText, count, listOf, nullable, number, type TypeOf, textOrNull, wholeObject } from "../schema.ts";

const size = nullable(count);

const architecture = {
  ...wholeObject({
    type: { ...anyText, description: "model_type" },
    layers: size,
    decoderLayers: { ...size, description: "of an encoder-decoder, whose encoder has `layers`; else null" },
    width: size,
    heads: size,
    vocabulary: size,
  }),
  description: "by config.json of the submission, by which it is loaded; null where a field is missing",
} as const;
export type Architecture = TypeOf<typeof architecture>;

const stated = {
  ...wholeObject({
    base: textOrNull,
    experts: listOf(anyText),
    data: listOf(anyText),
    tokenizer: textOrNull,
  }),
  description: "by provenance.json of the submission, which the agent writes; clipped, at most 20 names each",
} as const;

export const built = {
  ...wholeObject({
    architecture: nullable(architecture),
    given: {
      ...listOf(
        wholeObject({
          model: anyText,
          share: { ...number, description: "of the values in the submission's matrices, 0 to 1" },
        }),
      ),
      description: "given models of which the submission has versions of matrices",
    },
    known: { ...listOf(anyText), description: "published models whose matrices are like its own" },
    entered: {
      ...nullable(listOf(wholeObject({ from: recordedKind, id: anyText }))),
      description:
        "repositories of which files entered a sealed attempt, without small packages, the first 20; null in another condition",
    },
    stated: nullable(stated),
  }),
  description: "what the attempt built; absent without a submission that can be judged",
} as const;
export type Built = TypeOf<typeof built>;
