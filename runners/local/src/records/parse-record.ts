// Reads the text of a record.json. A record that was checked once is not checked again.
import { type AttemptRecord, attemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { checkFormat } from "@mlrb/formats/read-format";
import { canonicalJson } from "@mlrb/kit/json-file";
import { ifReadable } from "../store/if-readable.ts";
import { DamagedRecord } from "./damaged-record.ts";
import type { RecordIndex } from "./record-index.ts";
import { checkFormats } from "./record-line.ts";

/** The text of record.json. The record's name is its digest, so one record has one text. */
export function recordText(record: AttemptRecord): string {
  return `${canonicalJson(record, 2)}\n`;
}

/** Throws DamagedRecord and OtherFormat. `known` remembers which records were checked. */
export function parseRecord(
  digest: string,
  text: string,
  known: Pick<RecordIndex, "isChecked" | "checked">,
): AttemptRecord {
  const value: unknown = ifReadable(() => JSON.parse(text));
  if (value === undefined) throw new DamagedRecord(digest, "its record.json is not JSON");
  const { formatVersion, parts } = Object(value) as { formatVersion?: unknown; parts?: unknown };
  const keyFormat = (Object(parts) as { keyFormat?: unknown }).keyFormat;
  checkFormats(digest, { format: formatVersion, keyFormat });
  if (known.isChecked(digest)) return value as AttemptRecord;
  const reading = checkFormat(attemptRecord, value);
  if (reading.kind === "unreadable")
    throw new DamagedRecord(digest, `its record.json does not follow its format: ${reading.cause}`);
  known.checked(digest);
  return reading.value;
}
