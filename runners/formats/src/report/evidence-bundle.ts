// The formats of an evidence bundle: bundle.json, which says what it is of and what was replaced in its files, and
// page.json, what the page shows besides the report. Readers check both: a bundle comes from another person.
import {
  anyText,
  declaredName,
  fileFormat,
  listOf,
  oneOf,
  orNull,
  seed,
  sha256,
  type TypeOf,
  text,
  textOrNull,
  wholeExcept,
  wholeObject,
} from "../schema.ts";
import { axisValues, ran } from "../stage/action.ts";

const redaction = wholeObject({
  path: text,
  what: oneOf("keys", "row-ids", "keys-and-row-ids"),
  original: { ...sha256, description: "of the file before that" },
});
export type Redaction = TypeOf<typeof redaction>;

export const evidenceBundle = fileFormat(
  "mlrb evidence bundle",
  wholeObject({
    formatVersion: { const: 1 },
    pipeline: declaredName,
    profile: declaredName,
    selection: anyText,
    redacted: { ...listOf(redaction), description: "the files in which something was replaced" },
  }),
);
export type EvidenceBundle = TypeOf<typeof evidenceBundle>;

const made = wholeObject({
  key: anyText,
  record: textOrNull,
  script: anyText,
  params: listOf(wholeObject({ name: anyText, value: anyText })),
  files: listOf(wholeObject({ path: anyText, digest: anyText })),
  inputs: listOf(wholeObject({ name: anyText, digest: anyText, from: anyText, output: anyText })),
  outputs: listOf(wholeObject({ name: anyText, digest: anyText })),
  environment: textOrNull,
  ran,
  again: anyText,
});

const pageInstance = wholeExcept(["role", "cause"], {
  id: anyText,
  stage: anyText,
  role: anyText,
  axes: axisValues,
  outcome: oneOf("succeeded", "unknown", "failed", "skipped", "cancelled"),
  cause: { ...anyText, description: "why it failed, was skipped or was cancelled" },
  reasons: listOf(anyText),
  made: orNull(made),
  said: listOf(anyText),
});

export const bundledPage = fileFormat(
  "mlrb page of an evidence bundle",
  wholeObject({
    formatVersion: { const: 1 },
    commit: textOrNull,
    graph: anyText,
    instances: listOf(pageInstance),
    attempts: {
      ...listOf(
        wholeExcept(["cause"], {
          task: anyText,
          agent: anyText,
          seed,
          folder: { ...textOrNull, description: "of its trajectory in the bundle; null: there is none" },
          cause: { ...anyText, description: "why there is none" },
        }),
      ),
      description: "the attempts whose trajectories the page shows, in its order",
    },
  }),
);
export type BundledPage = TypeOf<typeof bundledPage>;
