// The format of the manifest of a collecting stage: every planned member of the stages that it collects, with its
// outcome. The manifest is part of the stage's key, so it holds no clock, host or absolute path.

import { memberDecision } from "../attempt/adjudication.ts";
import { uncheckedFields } from "../attempt/attempt-record.ts";
import { condition } from "../attempt/condition.ts";
import { memberOrigin } from "../attempt/record-origin.ts";
import { weakLimits } from "../attempt/weak-limits.ts";
import { interventionSums } from "../declared/intervention.ts";
import { heldGpus } from "../report/hardware.ts";
import * as t from "../schema.ts";
import { axisValues, keyParts } from "./action.ts";
import { artifactKind } from "./artifact.ts";

/** What a member's record says beside its outcome. A report passes it on. */
export const recordFacts = {
  origin: memberOrigin,
  weakLimits,
  ...uncheckedFields,
  gpus: heldGpus,
  decisions: t.about(
    t.listOf(memberDecision),
    "people's decisions on its rules, oldest first; absent if there is none",
  ),
  resumed: t.about(
    t.positiveInteger,
    "how often it continued after its supervisor or host died; absent if never",
  ),
  interventions: interventionSums,
};

export const recordFactNames = Object.keys(recordFacts) as (keyof typeof recordFacts)[];

const member = t.wholeExcept(["role", "note", "condition", "budget", ...recordFactNames], {
  stage: t.about(
    t.text,
    "the stage instance, e.g. score[task=baby-lm,agent=script-weak,seed=1,scorer=house-pairs]",
  ),
  name: t.about(t.text, "the stage's name, e.g. score"),
  role: t.about(t.text, "the stage's role in the pipeline; readers use it, never the name"),
  axes: axisValues,
  outcome: t.about(
    t.oneOf("succeeded", "failed", "skipped", "cancelled", "not-run"),
    "reused counts as succeeded; not-run: outside the selection and never run before",
  ),
  cause: t.about(t.anyText, "why there is no artifact, in words; empty if succeeded"),
  note: t.about(t.anyText, "a note for everything made from this member, e.g. that it was accepted as stale"),
  condition: t.about(condition, `${condition.description}. Absent if it is no attempt`),
  budget: t.about(keyParts.properties.budget, "of an attempt, as planned; absent for other stages"),
  ...recordFacts,
  artifacts: t.about(
    t.tableOf(
      t.wholeExcept(["path"], {
        digest: t.anyText,
        kind: artifactKind,
        path: t.about(t.text, "relative to the manifest; absent if only the digest was requested"),
      }),
    ),
    "the collected outputs by name; empty unless succeeded",
  ),
});
export type Member = t.TypeOf<typeof member>;

export const collected = t.wholeFile("mlrb manifest of a collecting stage", 1, { members: t.listOf(member) });
export type Collected = t.TypeOf<typeof collected>;
