// The format of the manifest of a collecting stage: every planned member of the stages that it collects, with its
// outcome. The manifest is part of the stage's key, so it holds no clock, host or absolute path.

import { memberDecision } from "../attempt/adjudication.ts";
import { uncheckedFields, uncheckedNames } from "../attempt/attempt-record.ts";
import { condition } from "../attempt/condition.ts";
import { memberOrigin } from "../attempt/record-origin.ts";
import { weakLimits } from "../attempt/weak-limits.ts";
import { interventionSums } from "../declared/intervention.ts";
import { heldGpus } from "../report/hardware.ts";
import {
  anyText,
  fileFormat,
  listOf,
  oneOf,
  type TypeOf,
  tableOf,
  text,
  wholeExcept,
  wholeObject,
} from "../schema.ts";
import { axisValues, keyParts } from "./action.ts";
import { artifactKind } from "./artifact.ts";

const member = wholeExcept(
  [
    "role",
    "note",
    "condition",
    "budget",
    "origin",
    "weakLimits",
    ...uncheckedNames,
    "gpus",
    "decisions",
    "resumed",
    "interventions",
  ],
  {
    stage: {
      ...text,
      description: "the stage instance, e.g. score[task=baby-lm,agent=minimal,seed=1,scorer=house-pairs]",
    },
    name: { ...text, description: "the stage's name, e.g. score" },
    role: {
      ...text,
      description: "the stage's role in the pipeline; readers use it, never the name",
    },
    axes: axisValues,
    outcome: {
      ...oneOf("succeeded", "failed", "skipped", "cancelled", "not-run"),
      description: "reused counts as succeeded; not-run: outside the selection and never run before",
    },
    cause: { ...anyText, description: "why there is no artifact, in words; empty if succeeded" },
    note: {
      ...anyText,
      description: "a note for everything made from this member, e.g. that it was accepted as stale",
    },
    condition: { ...condition, description: `${condition.description}. Absent if it is no attempt` },
    budget: {
      ...keyParts.properties.budget,
      description: "of an attempt, as planned; absent for other stages",
    },
    origin: memberOrigin,
    weakLimits,
    ...uncheckedFields,
    gpus: heldGpus,
    decisions: {
      ...listOf(memberDecision),
      description:
        "people's decisions on rules for the member's record, oldest first; absent if there is none",
    },
    resumed: {
      type: "integer",
      minimum: 1,
      description: "how often the attempt continued after its supervisor or host died; absent if never",
    },
    interventions: interventionSums,
    artifacts: {
      ...tableOf(
        wholeExcept(["path"], {
          digest: anyText,
          kind: artifactKind,
          path: {
            ...text,
            description: "relative to the manifest; absent if only the digest was requested",
          },
        }),
      ),
      description: "the collected outputs by name; empty unless succeeded",
    },
  },
);
export type Member = TypeOf<typeof member>;

export const collected = fileFormat(
  "mlrb manifest of a collecting stage",
  wholeObject({ formatVersion: { const: 1 }, members: listOf(member) }),
);
export type Collected = TypeOf<typeof collected>;
