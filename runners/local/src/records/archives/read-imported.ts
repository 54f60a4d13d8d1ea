// Reads a record that another machine exported, and puts its outputs into the store. Anyone may have written its text
// and its files.

import { createHash } from "node:crypto";
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { actionKey } from "@mlrb/core/key/action-key";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { readBounded } from "@mlrb/kit/admission/admission-files";
import { readingLimits } from "@mlrb/kit/admission/reading-limits";
import type { Store } from "../../store/artifact-store.ts";
import { ingestRecord } from "./import-record.ts";

/** Clocks of two machines may differ. */
const clockSkewMs = 24 * 3_600_000;

/** `parse` throws if a text does not follow the format of records. */
export function readImported(
  folder: string,
  digest: string,
  { now, parse, store }: { now: Date; parse: (text: string) => AttemptRecord; store: Store },
): { record: AttemptRecord; text: string } | { problem: string } {
  try {
    const unsafe = unsafeFile(folder);
    if (unsafe !== undefined) return { problem: unsafe };
    const bytes = readBounded(join(folder, "record.json"), readingLimits.recordBytes);
    if (typeof bytes === "string") return { problem: `its record.json: ${bytes}` };
    const text = Buffer.from(bytes).toString();
    if (createHash("sha256").update(text).digest("hex") !== digest)
      return { problem: "its record is not what its name says" };
    const record = parse(text);
    const problem = unsafeRecord(record, now.getTime());
    if (problem !== undefined) return { problem };
    const context = { store, read: new Map<string, string>(), link: false };
    for (const [name, output] of Object.entries(record.outputs)) {
      const differs = ingestRecord(folder, [name, output], context);
      if (differs !== undefined) return { problem: differs };
    }
    return { record, text };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

/** The problem of record.json or of the log as files, before either is read. Links and pipes are never followed. */
function unsafeFile(folder: string): string | undefined {
  const record = lstatSync(join(folder, "record.json"), { throwIfNoEntry: false });
  if (!record) return "its record.json is gone";
  if (!record.isFile()) return "its record.json is not a plain file";
  const log = lstatSync(join(folder, "log"), { throwIfNoEntry: false });
  return log && !log.isFile() ? "its log is not a plain file" : undefined;
}

/** The first problem of a record that follows its format, in words. */
function unsafeRecord(record: AttemptRecord, nowMs: number): string | undefined {
  if (actionKey(record.parts) !== record.attemptKey) return "its key is not the key of its parts";
  const { startedAt, durationMs } = record.ran;
  const startMs = Date.parse(startedAt);
  if (Number.isNaN(startMs)) return `its start, ${JSON.stringify(startedAt)}, is not a date`;
  if (startMs > nowMs + clockSkewMs)
    return `its start, ${startedAt}, is in the future; compare the clocks of both machines`;
  if (durationMs < 0) return `its duration, ${durationMs} ms, is negative`;
  const files = Object.values(record.outputs).map(({ file }) => file);
  const taken = files.find((file, at) => ["record.json", "log"].includes(file) || files.indexOf(file) < at);
  return taken === undefined ? undefined : `two of its files are called ${taken}`;
}
