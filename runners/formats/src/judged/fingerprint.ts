// The format of fingerprints of models, tasks/NAME/known-weights/*.json and fingerprint.json: a few values of every
// matrix.
import { anyText, count, fileFormat, listOf, number, type TypeOf, wholeObject } from "../schema.ts";

export const fingerprintFile = fileFormat(
  "mlrb fingerprint of a model",
  wholeObject({
    formatVersion: { const: 1 },
    name: { ...anyText, description: "the publisher's name of the model" },
    source: { ...anyText, description: "origin of the weights, with version" },
    licence: anyText,
    tensors: listOf(wholeObject({ name: anyText, shape: listOf(count), values: listOf(number) })),
  }),
);
export type Fingerprint = TypeOf<typeof fingerprintFile>;
