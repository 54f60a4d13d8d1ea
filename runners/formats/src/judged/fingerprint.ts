// The format of fingerprints of models: fingerprint.json of an attempt (1) and tasks/known-weights/*.json (2, with `places`
// and `profile` of every matrix).
import {
  anyText,
  count,
  fileFormat,
  listOf,
  number,
  oneOf,
  type TypeOf,
  wholeExcept,
  wholeObject,
} from "../schema.ts";

export const fingerprintFile = fileFormat(
  "mlrb fingerprint of a model",
  wholeObject({
    formatVersion: oneOf(1, 2),
    name: { ...anyText, description: "the publisher's name of the model" },
    source: { ...anyText, description: "origin of the weights, with version" },
    licence: anyText,
    tensors: listOf(
      wholeExcept(["places", "profile"], {
        name: anyText,
        shape: listOf(count),
        values: { ...listOf(number), description: "at 64 places of the shape" },
        places: { ...anyText, description: "values at 1 024 places, as signed bytes in base64" },
        profile: {
          ...anyText,
          description:
            "sorted singular values and norms of rows and columns, at 64 quantiles each, over their root mean square, as half-precision numbers in base64",
        },
      }),
    ),
  }),
);
export type Fingerprint = TypeOf<typeof fingerprintFile>;
