// The format of record.json: what is kept of an attempt besides its files.

import { interventionSums } from "../declared/intervention.ts";
import * as t from "../schema.ts";
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
export const slot = t.about(
  t.wholeObject({ pipeline: t.declaredName, profile: t.declaredName, stage: instanceName }),
  "the place of the attempt in a pipeline and profile",
);

export const given = t.about(
  t.listOf(t.wholeObject({ name: t.anyText, stage: t.anyText, output: t.anyText, ...artifact.properties })),
  "its inputs, pinned: a stage that needs this attempt and one of these inputs gets these",
);

export const harness = t.about(
  t.tableOf(t.anyText),
  "digests of the harness that ran it: provenance, not key",
);

export const attemptCost = t.about(
  t.wholeObject({ gpuHours: t.numberOrNull, dollars: t.numberOrNull }),
  "its cost by its ledger; null: unknown, never 0",
);
export type AttemptCost = t.TypeOf<typeof attemptCost>;

export const costEstimate = t.about(
  t.wholeObject({
    gpuHours: t.about(t.numberOrNull, "null: it holds devices without a time limit"),
    dollars: t.about(t.numberOrNull, "null: unknown. A stage without secrets makes no payments"),
    timeMs: t.about(t.numberOrNull, "expected duration; null without earlier attempts or a budget"),
    from: t.about(
      t.count,
      "the number of earlier attempts of which it is the median; 0: an upper bound from the budget",
    ),
  }),
  "the cost that was expected before it ran",
);
export type CostEstimate = t.TypeOf<typeof costEstimate>;

export const protocol = t.about(
  t.sha256,
  "SHA-256 of the frozen protocol that lay at its place when it started; absent: none. In no key",
);

const skippedChecks = t.about(
  { ...t.list, minItems: 1 },
  "stages that it should have started after and that a person left out (--skip-reference-models); absent if there was none",
);

const undeclaredChecks = t.about(
  { ...t.list, minItems: 1 },
  "stages that it would have started after, and of which no task of the plan declares anything to check; absent if something was to be checked",
);

/** The optional fields of checks that an attempt did not have, and their names. */
export const uncheckedFields = { skippedChecks, undeclaredChecks } as const;
export const uncheckedNames = ["skippedChecks", "undeclaredChecks"] as const;

type Unchecked = { skippedChecks?: string[]; undeclaredChecks?: string[] };

/** What a file says of checks that did not come first, to copy into another file. */
export function uncheckedOf({ skippedChecks, undeclaredChecks }: Unchecked): Unchecked {
  return { ...(skippedChecks && { skippedChecks }), ...(undeclaredChecks && { undeclaredChecks }) };
}

export const attemptRecord = t.fileFormat(
  "mlrb attempt record",
  t.wholeExcept(["estimate", "protocol", "interventions", ...uncheckedNames], {
    formatVersion: { const: 1 },
    slot,
    axes: axisValues,
    attemptKey: t.text,
    parts: t.about(keyParts, "what the key was made of"),
    given,
    outputs: t.tableOf(t.wholeObject({ ...artifact.properties, file: fileName })),
    harness,
    cost: attemptCost,
    estimate: costEstimate,
    protocol,
    interventions: interventionSums,
    ...uncheckedFields,
    ran,
  }),
);
export type AttemptRecord = t.TypeOf<typeof attemptRecord>;
