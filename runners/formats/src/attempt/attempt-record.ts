// The format of record.json: what is kept of an attempt besides its files.

import { interventionSums } from "../declared/intervention.ts";
import {
  anyText,
  count,
  declaredName,
  fileFormat,
  list,
  listOf,
  numberOrNull,
  sha256,
  type TypeOf,
  tableOf,
  text,
  wholeExcept,
  wholeObject,
} from "../schema.ts";
import { axisValues, keyParts, ran } from "../stage/action.ts";
import { artifact } from "../stage/artifact.ts";

/** A name within a folder, never a path out of it. */
export const fileName = { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$" } as const;

/** A stage instance, `NAME` or `NAME[axis=value,…]`, of the characters that a plan allows in names and values. */
const instanceName = {
  type: "string",
  pattern: "^[a-z][a-zA-Z0-9-]*(\\[[\\p{L}\\p{N}\\p{M}_.%@:+~=,-]*\\])?$",
} as const;

/** `pipeline` and `profile` are looked up among those of the repository, so they are names and never paths. */
export const slot = {
  ...wholeObject({ pipeline: declaredName, profile: declaredName, stage: instanceName }),
  description: "the place of the attempt in a pipeline and profile",
} as const;

export const given = {
  ...listOf(wholeObject({ name: anyText, stage: anyText, output: anyText, ...artifact.properties })),
  description: "its inputs, pinned: a stage that needs this attempt and one of these inputs gets these",
} as const;

export const harness = {
  ...tableOf(anyText),
  description: "digests of the harness that ran it: provenance, not key",
} as const;

export const attemptCost = {
  ...wholeObject({ gpuHours: numberOrNull, dollars: numberOrNull }),
  description: "its cost by its ledger; null: unknown, never 0",
} as const;
export type AttemptCost = TypeOf<typeof attemptCost>;

export const costEstimate = {
  ...wholeObject({
    gpuHours: {
      ...numberOrNull,
      description: "null: it holds devices without a time limit",
    },
    dollars: {
      ...numberOrNull,
      description: "null: unknown. A stage without secrets makes no payments",
    },
    timeMs: {
      ...numberOrNull,
      description: "expected duration; null without earlier attempts or a budget",
    },
    from: {
      ...count,
      description:
        "the number of earlier attempts of which it is the median; 0: an upper bound from the budget",
    },
  }),
  description: "the cost that was expected before it ran",
} as const;
export type CostEstimate = TypeOf<typeof costEstimate>;

export const protocol = {
  ...sha256,
  description:
    "SHA-256 of the frozen protocol that lay at its place when it started; absent: none. In no key",
} as const;

const skippedChecks = {
  ...list,
  minItems: 1,
  description:
    "stages that it should have started after and that a person left out (--skip-reference-models); absent if there was none",
} as const;

const undeclaredChecks = {
  ...list,
  minItems: 1,
  description:
    "stages that it would have started after, and of which no task of the plan declares anything to check; absent if something was to be checked",
} as const;

/** The optional fields of checks that an attempt did not have, and their names. */
export const uncheckedFields = { skippedChecks, undeclaredChecks } as const;
export const uncheckedNames = ["skippedChecks", "undeclaredChecks"] as const;

type Unchecked = { skippedChecks?: string[]; undeclaredChecks?: string[] };

/** What a file says of checks that did not come first, to copy into another file. */
export function uncheckedOf({ skippedChecks, undeclaredChecks }: Unchecked): Unchecked {
  return { ...(skippedChecks && { skippedChecks }), ...(undeclaredChecks && { undeclaredChecks }) };
}

export const attemptRecord = fileFormat(
  "mlrb attempt record",
  wholeExcept(["estimate", "protocol", "interventions", ...uncheckedNames], {
    formatVersion: { const: 1 },
    slot,
    axes: axisValues,
    attemptKey: text,
    parts: { ...keyParts, description: "what the key was made of" },
    given,
    outputs: tableOf(wholeObject({ ...artifact.properties, file: fileName })),
    harness,
    cost: attemptCost,
    estimate: costEstimate,
    protocol,
    interventions: interventionSums,
    ...uncheckedFields,
    ran,
  }),
);
export type AttemptRecord = TypeOf<typeof attemptRecord>;
