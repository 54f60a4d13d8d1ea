// `pipeline attempts export`: copies records for other machines.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { AttemptRecords, HeldRecord } from "@mlrb/local/records/attempt-records";
import { exportRecord } from "@mlrb/local/records/export-record";
import { attemptPlace } from "../request/find-attempt.ts";
import { type PlaceOptions, rootFolder } from "../request/root-folder.ts";
import { counted } from "../show/counted.ts";
import type { ExportLogOptions } from "./attempts-export-log.ts";

export async function attemptsExport(
  repository: string,
  dir: string,
  prefixes: string[],
  options: PlaceOptions & Partial<ExportLogOptions>,
): Promise<number> {
  const { format } = options;
  if (format !== undefined) {
    const { attemptsExportLog } = await import("./attempts-export-log.ts");
    return attemptsExportLog(repository, [dir, ...prefixes], { ...options, format });
  }
  const { records, state } = attemptPlace(repository, options.root);
  const found = named(records, prefixes);
  if (!found) return 2;
  const to = rootFolder(repository, dir);
  mkdirSync(to, { recursive: true });
  const copied = new Map<string, string>();
  for (const { digest } of found)
    exportRecord(join(state.attempts, "records", digest), join(to, digest), copied);
  process.stdout.write(`${counted(found.length, "attempt")} exported\n`);
  return 0;
}

/** The records whose digests begin with `prefixes`, all without any; undefined after printing a problem. */
function named(records: AttemptRecords, prefixes: string[]): HeldRecord[] | undefined {
  if (prefixes.length === 0)
    return records.readable((_, { message }) => process.stderr.write(`left out: ${message}\n`));
  const all = records.list();
  const chosen: string[] = [];
  for (const prefix of prefixes) {
    const found = all.filter((digest) => digest.startsWith(prefix));
    if (found.length !== 1) {
      const what = found.length === 0 ? "no attempt's" : `${found.length} attempts'`;
      process.stderr.write(
        `unknown-attempt: ${what} digest begins with "${prefix}"\n  help: \`pnpm pipeline attempts list\` shows all ${all.length}\n`,
      );
      return undefined;
    }
    chosen.push(found[0]!);
  }
  return [...new Set(chosen)].map((digest) => ({ digest, record: records.read(digest) }));
}
