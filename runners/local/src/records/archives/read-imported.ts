// Reads a record that another machine exported, and puts its outputs into the store. Anyone may have written its
// text and its files.

import { hash } from "node:crypto";
import { lstatSync, type Stats } from "node:fs";
import { join } from "node:path";
import { actionKey } from "@mlrb/core/key/action-key";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { readBounded } from "@mlrb/kit/admission/admission-files";
import { overLimit, readingLimits } from "@mlrb/kit/admission/reading-limits";
import { readLedgerCost } from "@mlrb/kit/rules/ledger";
import { artifactDigest } from "../../digests/artifact-digest.ts";
import { checkSize, givenFiles, OddOutput } from "../../stage/inspect-outputs.ts";
import type { Store } from "../../store/artifact-store.ts";
import { recordText } from "../parse-record.ts";
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
    if (hash("sha256", text) !== digest) return { problem: "its record is not what its name says" };
    const record = parse(text);
    // else it would be kept under another name than that of which the origin is written
    if (recordText(record) !== text)
      return { problem: "its record.json is not in the form in which records are written" };
    const problem = unsafeRecord(record, now.getTime()) ?? unsafeOutputs(folder, record);
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
  if (log && !log.isFile()) return "its log is not a plain file";
  if (log && log.size > readingLimits.recordLogBytes.max)
    return `its log: ${overLimit(readingLimits.recordLogBytes, log.size)}`;
  return undefined;
}

/** The first output that differs from the record, before anything is stored, or an odd cost in the ledger. */
function unsafeOutputs(folder: string, { outputs }: AttemptRecord): string | undefined {
  try {
    const files = new Map<string, Stats>();
    givenFiles(folder, files);
    checkSize(files, undefined);
  } catch (error) {
    if (!(error instanceof OddOutput)) throw error;
    return `it ${error.message}`;
  }
  for (const [name, { kind, file, digest }] of Object.entries(outputs)) {
    const path = join(folder, file);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats) return `its ${name} is gone`;
    if (stats.isDirectory() !== (kind === "dir") || artifactDigest(path) !== digest)
      return `its ${name} is not what its record says`;
  }
  if (outputs.ledger?.kind !== "file") return undefined;
  const cost = readLedgerCost(join(folder, outputs.ledger.file));
  return typeof cost === "string" ? undefined : oddAmount("its ledger", cost);
}

/** The format that this program writes. `Date.parse` reads others, with any text in parentheses. */
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

const tenYearsMs = 10 * 365 * 24 * 3_600_000;

/** Far above what an attempt has: beyond it, or below 0, a sum over attempts would say nothing of the others. */
const most = {
  ...{ gpuHours: 1_000_000, dollars: 1_000_000 },
  ...{ timeMs: tenYearsMs, addedMs: tenYearsMs, durationMs: tenYearsMs },
};

type Amounts = { [name in keyof typeof most]?: number | null | undefined };

function oddAmount(what: string, amounts: Amounts): string | undefined {
  for (const [name, max] of Object.entries(most)) {
    const value = amounts[name as keyof Amounts] ?? 0; // null is unknown
    if (value < 0 || value > max) return `${what} has ${value} ${name}, which no attempt has`;
  }
  return undefined;
}

/** The first problem of a record that follows its format, in words. */
function unsafeRecord(record: AttemptRecord, nowMs: number): string | undefined {
  if (actionKey(record.parts) !== record.attemptKey) return "its key is not the key of its parts";
  const { startedAt, durationMs } = record.ran;
  const startMs = Date.parse(startedAt);
  if (!isoTime.test(startedAt) || Number.isNaN(startMs))
    return `its start, ${JSON.stringify(startedAt)}, is not a date`;
  if (startMs > nowMs + clockSkewMs)
    return `its start, ${startedAt}, is in the future; compare the clocks of both machines`;
  const { cost, estimate, interventions } = record;
  const odd =
    oddAmount("its cost", cost) ??
    oddAmount("its expected cost", { ...estimate }) ??
    oddAmount("its extension", { addedMs: interventions?.addedMs, dollars: interventions?.addedDollars }) ??
    oddAmount("its duration", { durationMs });
  if (odd !== undefined) return odd;
  const files = Object.values(record.outputs).map(({ file }) => file);
  const taken = files.find((file, at) => ["record.json", "log"].includes(file) || files.indexOf(file) < at);
  return taken === undefined ? undefined : `two of its files are called ${taken}`;
}
