// The formats of an evidence bundle: bundle.json, which says what it is of and what was replaced in its files, and
// page.json, what the page shows besides the report. Readers check both: a bundle comes from another person.
import * as t from "../schema.ts";
import { axisValues, ran } from "../stage/action.ts";

const redaction = t.wholeObject({
  path: t.text,
  what: t.oneOf("keys", "row-ids", "keys-and-row-ids"),
  original: t.about(t.sha256, "of the file before that"),
});
export type Redaction = t.TypeOf<typeof redaction>;

export const evidenceBundle = t.wholeFile("mlrb evidence bundle", 1, {
  pipeline: t.declaredName,
  profile: t.declaredName,
  selection: t.anyText,
  redacted: t.about(t.listOf(redaction), "the files in which something was replaced"),
});
export type EvidenceBundle = t.TypeOf<typeof evidenceBundle>;

const made = t.wholeObject({
  key: t.anyText,
  record: t.textOrNull,
  script: t.anyText,
  params: t.listOf(t.wholeObject({ name: t.anyText, value: t.anyText })),
  files: t.listOf(t.wholeObject({ path: t.anyText, digest: t.anyText })),
  inputs: t.listOf(t.wholeObject({ name: t.anyText, digest: t.anyText, from: t.anyText, output: t.anyText })),
  outputs: t.listOf(t.wholeObject({ name: t.anyText, digest: t.anyText })),
  environment: t.textOrNull,
  ran,
  again: t.anyText,
});

const pageInstance = t.wholeExcept(["role", "cause"], {
  id: t.anyText,
  stage: t.anyText,
  role: t.anyText,
  axes: axisValues,
  outcome: t.oneOf("succeeded", "unknown", "failed", "skipped", "cancelled"),
  cause: t.about(t.anyText, "why it failed, was skipped or was cancelled"),
  reasons: t.listOf(t.anyText),
  made: t.orNull(made),
  said: t.listOf(t.anyText),
});

export const bundledPage = t.wholeFile("mlrb page of an evidence bundle", 1, {
  commit: t.textOrNull,
  graph: t.anyText,
  instances: t.listOf(pageInstance),
  attempts: t.about(
    t.listOf(
      t.wholeExcept(["cause"], {
        task: t.anyText,
        agent: t.anyText,
        seed: t.seed,
        folder: t.about(t.textOrNull, "of its trajectory in the bundle; null: there is none"),
        cause: t.about(t.anyText, "why there is none"),
      }),
    ),
    "the attempts whose trajectories the page shows, in its order",
  ),
});
export type BundledPage = t.TypeOf<typeof bundledPage>;
