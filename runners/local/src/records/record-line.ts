// A line of the index: the fields of a record that are known without reading the record. Refuses other formats.

import { crc32 } from "node:zlib";
import { attemptKeyFormat } from "@mlrb/core/key/action-key";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { canonicalJson } from "@mlrb/kit/json-file";
import { ifReadable } from "../store/if-readable.ts";
import { refuseOther } from "../store/other-format.ts";

export type Line = {
  record: string;
  key: string;
  slot: string;
  startedAt: string;
  /** Both are absent for a damaged record. */
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

/** A line as the index holds it. The checksum shows whether it is as it was written. */
export function indexLine(line: Line): string {
  return canonicalJson({ ...line, sum: crc32(canonicalJson(line)).toString(16) });
}

/** Undefined for a torn or changed line. */
export function parseIndexLine(text: string): Line | undefined {
  const { sum: _, ...line } = Object(ifReadable(() => JSON.parse(text)));
  return ifReadable(() => indexLine(line)) === text ? line : undefined;
}

/** Throws OtherFormat: an attempt whose record or key this program cannot read must not run again. */
export function checkFormats(
  digest: string,
  { format, keyFormat }: { format?: unknown; keyFormat?: unknown },
): void {
  const name = `attempt ${digest.slice(0, 12)}`;
  refuseOther(name, format, 1);
  refuseOther(`the key of ${name}`, keyFormat, attemptKeyFormat);
}
