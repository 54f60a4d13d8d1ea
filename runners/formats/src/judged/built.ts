// What an attempt built, next to its verdict. It decides nothing. What the harness found is apart from what the
// agent says of itself.
import { recordedKind } from "../attempt/download-events.ts";
import * as t from "../schema.ts";

const size = t.nullable(t.count);

const architecture = t.about(
  t.wholeObject({
    type: t.about(t.anyText, "model_type"),
    layers: size,
    decoderLayers: t.about(size, "of an encoder-decoder, whose encoder has `layers`; else null"),
    width: size,
    heads: size,
    vocabulary: size,
  }),
  "by config.json of the submission, by which it is loaded; null where a field is missing",
);
export type Architecture = t.TypeOf<typeof architecture>;

const stated = t.about(
  t.wholeObject({
    base: t.textOrNull,
    experts: t.listOf(t.anyText),
    data: t.listOf(t.anyText),
    tokenizer: t.textOrNull,
  }),
  "by provenance.json of the submission, which the agent writes; clipped, at most 20 names each",
);

export const built = t.about(
  t.wholeObject({
    architecture: t.nullable(architecture),
    given: t.about(
      t.listOf(
        t.wholeObject({
          model: t.anyText,
          share: t.about(t.number, "of the values in the submission's matrices, 0 to 1"),
        }),
      ),
      "given models of which the submission has versions of matrices",
    ),
    known: t.about(t.listOf(t.anyText), "published models whose matrices are like its own"),
    entered: t.about(
      t.nullable(t.listOf(t.wholeObject({ from: recordedKind, id: t.anyText }))),
      "repositories of which files entered a sealed attempt, without small packages, the first 20; null in another condition",
    ),
    stated: t.nullable(stated),
  }),
  "what the attempt built; absent without a submission that can be judged",
);
export type Built = t.TypeOf<typeof built>;
