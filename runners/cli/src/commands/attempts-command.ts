// `pipeline attempts export` and `import`: copies records to and from other machines.
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { AttemptRecords, type HeldRecord } from "@mlrb/local/records/attempt-records";
import { exportRecord } from "@mlrb/local/records/export-record";
import { Store } from "@mlrb/local/store/artifact-store";
import { stateFolder } from "@mlrb/local/store/state-folder";
import { VerifiedContents } from "@mlrb/local/store/verified-contents";
import { type PlaceOptions, rootFolder } from "../request/root-folder.ts";
import { counted } from "../show/counted.ts";
import type { ExportLogOptions } from "./attempts-export-log.ts";

function open(repository: string, options: PlaceOptions): { records: AttemptRecords; folder: string } {
  const state = stateFolder(rootFolder(repository, options.root));
  return {
    records: new AttemptRecords(state.attempts, {
      store: new Store(state.blobs),
      verified: new VerifiedContents(state.memory),
    }),
    folder: join(state.attempts, "records"),
  };
}

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
  const { records, folder } = open(repository, options);
  const found = named(records, prefixes);
  if (!found) return 2;
  const to = rootFolder(repository, dir);
  mkdirSync(to, { recursive: true });
  const copied = new Map<string, string>();
  for (const { digest } of found) exportRecord(join(folder, digest), join(to, digest), copied);
  process.stdout.write(`${counted(found.length, "attempt")} exported\n`);
  return 0;
}

export function attemptsImport(repository: string, dir: string, options: PlaceOptions): number {
  const { records } = open(repository, options);
  const from = rootFolder(repository, dir);
  if (!existsSync(from)) {
    process.stderr.write(`unknown-folder: there is no folder ${dir}\n`);
    return 2;
  }
  let imported = 0;
  let refused = 0;
  for (const name of readdirSync(from).sort()) {
    if (!/^[0-9a-f]{64}$/.test(name)) continue;
    const problem = records.import(join(from, name), name);
    if (problem === undefined) imported++;
    else {
      refused++;
      process.stderr.write(`refused ${name.slice(0, 12)}: ${problem}\n`);
    }
  }
  process.stdout.write(
    `${counted(imported, "attempt")} imported${refused > 0 ? `, ${refused} refused` : ""}\n`,
  );
  return refused > 0 ? 1 : 0;
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
