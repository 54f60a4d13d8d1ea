// The format of fingerprints of models: fingerprint.json of an attempt (1) and tasks/known-weights/*.json (2, with
// `places` and `profile` of every matrix).
import * as t from "../schema.ts";

export const fingerprintFile = t.fileFormat(
  "mlrb fingerprint of a model",
  t.wholeObject({
    formatVersion: t.oneOf(1, 2),
    name: t.about(t.anyText, "the publisher's name of the model"),
    source: t.about(t.anyText, "origin of the weights, with version"),
    licence: t.anyText,
    tensors: t.listOf(
      t.wholeExcept(["places", "profile"], {
        name: t.anyText,
        shape: t.listOf(t.count),
        values: t.about(t.listOf(t.number), "at 64 places of the shape"),
        places: t.about(t.anyText, "values at 1 024 places, as signed bytes in base64"),
        profile: t.about(
          t.anyText,
          "sorted singular values and norms of rows and columns, at 64 quantiles each, over their root mean square, as half-precision numbers in base64",
        ),
      }),
    ),
  }),
);
export type Fingerprint = t.TypeOf<typeof fingerprintFile>;
