// A record with what is known about it besides its own text, and the results of a search and of an import.

import type { MemberDecision } from "@mlrb/formats/attempt/adjudication";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import type { RecordOrigin } from "@mlrb/formats/attempt/record-origin";
import type { DamagedRecord } from "./damaged-record.ts";
import type { Searched } from "./rank-records.ts";

export type HeldRecord = {
  digest: string;
  record: AttemptRecord;
  /** Absent for a record that was made here. */
  origin?: RecordOrigin;
  /** People's decisions on rules for it, oldest first; absent if there is none. */
  decisions?: MemberDecision[];
};

/** The record that a stage instance may use. */
export type RecordSearch = Searched<HeldRecord>;

/** How the import of a record ended. `restored`: the record was here, damaged or thinned. */
export type ImportEnd = { kind: "imported" | "restored" | "here" } | { kind: "refused"; problem: string };

export type Damaged = (digest: string, why: DamagedRecord) => void;

export type ImportedFrom = Omit<RecordOrigin, "formatVersion" | "importedAt">;
