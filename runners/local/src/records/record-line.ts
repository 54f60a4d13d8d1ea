// A line of the index: the fields of a record that are known without reading the record. Refuses newer formats.

import { attemptKeyFormat } from "@mlrb/core/key/action-key";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { refuseNewer } from "../store/newer-format.ts";

export type Line = {
  record: string;
  key: string;
  slot: string;
  startedAt: string;
  format?: number;
  keyFormat?: number;
};

/** The name of a slot: one attempt's place in one pipeline and profile. */
export function slotName({ pipeline, profile, stage }: AttemptRecord["slot"]): string {
  return `${pipeline} ${profile} ${stage}`;
}

export function lineOf(digest: string, { attemptKey, slot, ran, formatVersion, parts }: AttemptRecord): Line {
  return {
    record: digest,
    key: attemptKey,
    slot: slotName(slot),
    startedAt: ran.startedAt,
    format: formatVersion,
    keyFormat: parts.keyFormat,
  };
}

/** Throws NewerFormat: an attempt whose record or key this program cannot read must not run again. */
export function checkFormats(
  digest: string,
  { format, keyFormat }: { format: unknown; keyFormat: unknown },
): void {
  const name = `attempt ${digest.slice(0, 12)}`;
  refuseNewer(name, format, 1);
  refuseNewer(`the key of ${name}`, keyFormat, attemptKeyFormat);
}
