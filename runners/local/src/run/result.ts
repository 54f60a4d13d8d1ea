// The result of an instance, as later instances read it.

import type { Plan } from "@mlrb/core/plan/plan";
import type { Outcome } from "@mlrb/core/ports/outcome";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import type { Quarantined } from "../attempts/quarantine.ts";
import type { Declared } from "../decide/declared.ts";
import type { HeldRecord } from "../records/attempt-records.ts";
import type { Workspace } from "../store/workspace.ts";

/** How an instance ended in this run, with its outputs after success. */
export type Result = {
  outcome: Outcome;
  outputs: Record<string, Artifact>;
  /** The action key, where its inputs were known. */
  key?: string;
  /** Of a durable instance: the record that holds its outputs. */
  record?: HeldRecord;
  /** For an attempt without a record: its remaining files, and their cost. */
  quarantined?: Quarantined;
  /** A note that tables show next to everything made from this result. */
  note?: string;
};

/** `results` by plan index: all dependencies; undefined where not selected. */
export type BindContext = {
  plan: Plan;
  workspace: Workspace;
  results: (Result | undefined)[];
  /** What is alike in many instances, where one look at the files is enough: in commands that only read. */
  declared?: Map<string, Promise<Declared>>;
};
