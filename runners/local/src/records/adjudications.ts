// Reads and writes what people decided on rules of recorded attempts, and carries it in archives of records.

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { type Adjudication, adjudication } from "@mlrb/formats/attempt/adjudication";
import type { RecordOrigin } from "@mlrb/formats/attempt/record-origin";
import { readFormat } from "@mlrb/formats/read-format";
import { isFile, readBounded } from "@mlrb/kit/admission/admission-files";
import { readingLimits } from "@mlrb/kit/admission/reading-limits";
import { appendLines, linesOf } from "./decision-log.ts";
import { addsWeight, decisionKey } from "./rank-adjudications.ts";

/** The file's name in the folder of attempts, and in an archive. */
export const adjudicationsFile = "adjudications.jsonl";

/** All lines by record, in their order. */
export function readAdjudications(attempts: string): Map<string, Adjudication[]> {
  return Map.groupBy(linesOf(adjudication, join(attempts, adjudicationsFile)), ({ record }) => record);
}

export function addAdjudication(
  attempts: string,
  decision: Omit<Adjudication, "formatVersion" | "origin" | "preferred">,
): void {
  appendLines(join(attempts, adjudicationsFile), [{ formatVersion: 1, ...decision }]);
}

/** The decisions on `records` that the archive in `to` lacks, without their origin: the archive's signer is their origin. */
export function unexported(attempts: string, { to, records }: { to: string; records: string[] }): object[] {
  const known = readAdjudications(attempts);
  const there = new Set(linesOf(adjudication, join(to, adjudicationsFile)).map(decisionKey));
  return records
    .flatMap((record) => known.get(record) ?? [])
    .flatMap((line) => {
      const key = decisionKey(line);
      if (there.has(key)) return [];
      there.add(key);
      const { origin: _, preferred: __, ...decision } = line;
      return [decision];
    });
}

export function exportAdjudications(to: string, lines: object[]): void {
  appendLines(join(to, adjudicationsFile), lines);
}

type DecisionImport = {
  from: Omit<RecordOrigin, "formatVersion" | "importedAt">;
  /** The archive's records that are here. */
  held: ReadonlySet<string>;
  /** Where a record came from; undefined if it was made here. */
  origins: (record: string) => RecordOrigin | undefined;
  /** Whether the decisions weigh as much as those made here. */
  prefer: boolean;
};

type ImportedDecisions = { imported: number; problems: string[] };

/**
 * Adds an archive's decisions on records that are here, with their origin. One that is here is added again only if
 * it weighs more now: signed, from the record's own source, or preferred. Anyone may have written the file.
 */
export function importAdjudications(
  attempts: string,
  archive: string,
  { from, held, origins, prefer }: DecisionImport,
): ImportedDecisions {
  const path = join(archive, adjudicationsFile);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return { imported: 0, problems: [] };
  if (!stats.isFile()) return { imported: 0, problems: [`${adjudicationsFile} is not a plain file`] };
  const bytes = readBounded(path, readingLimits.adjudicationsBytes);
  if (typeof bytes === "string") return { imported: 0, problems: [`${adjudicationsFile}: ${bytes}`] };
  const here = Map.groupBy([...readAdjudications(attempts).values()].flat(), decisionKey);
  const problems: string[] = [];
  const added: Adjudication[] = [];
  for (const [at, line] of Buffer.from(bytes).toString().split("\n").entries()) {
    if (line === "") continue;
    const reading = readFormat(adjudication, line);
    if (reading.kind === "unreadable") {
      problems.push(`${adjudicationsFile}, line ${at + 1}: ${reading.cause}`);
      continue;
    }
    const { origin: _, preferred: __, ...decision } = reading.value;
    if (!held.has(decision.record)) {
      const record = decision.record.slice(0, 12);
      problems.push(`${adjudicationsFile}, line ${at + 1}: it is on ${record}, which was not imported`);
      continue;
    }
    const found: Adjudication = { ...decision, origin: { ...from }, ...(prefer && { preferred: true }) };
    const before = here.get(decisionKey(found)) ?? [];
    if (addsWeight(found, before, origins(decision.record))) added.push(found);
  }
  appendLines(join(attempts, adjudicationsFile), added);
  return { imported: added.length, problems };
}

/** Whether the archive has a file of decisions, which its digest then covers. An import refuses other kinds of files. */
export function hasAdjudications(archive: string): boolean {
  return isFile(join(archive, adjudicationsFile));
}

/** Whether all decisions of the archive are known here, so that this machine's signature may vouch for them. */
export function knowsAdjudications(attempts: string, archive: string): boolean {
  const here = new Set([...readAdjudications(attempts).values()].flat().map(decisionKey));
  return linesOf(adjudication, join(archive, adjudicationsFile)).every((line) => here.has(decisionKey(line)));
}
