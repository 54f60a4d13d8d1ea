// How an instance ended, and what deciding on those after it looks at.

import type { Outcome } from "@mlrb/core/outcome";
import type { Plan } from "@mlrb/core/plan";
import type { Artifact } from "@mlrb/formats/artifact";
import type { HeldRecord } from "./attempt-records.ts";
import type { Quarantined } from "./quarantine.ts";
import type { Workspace } from "./workspace.ts";

/** How an instance ended in this run, with what it gave if it succeeded. */
export type Result = {
  outcome: Outcome;
  outputs: Record<string, Artifact>;
  /** Of a durable instance: the record that holds its outputs. */
  record?: HeldRecord;
  /** Of an attempt that gave no record: what is left of it, and what that cost. */
  quarantined?: Quarantined;
  /** What a table must say beside anything made from it. */
  note?: string;
};

/** `results` by plan index: everything that is depended on, undefined where it was not selected. */
export type BindContext = { plan: Plan; workspace: Workspace; results: (Result | undefined)[] };
