// `pipeline attempts export`: copies records for other machines.

import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { counted } from "@mlrb/core/text/counted";
import { writeWhole } from "@mlrb/kit/json-file";
import { exportAdjudications, knowsAdjudications, unexported } from "@mlrb/local/records/adjudications";
import { exportRecord } from "@mlrb/local/records/archives/export-record";
import { archiveDigest, signatureFile } from "@mlrb/local/records/archives/record-archive";
import type { AttemptRecords, HeldRecord } from "@mlrb/local/records/attempt-records";
import { recordDigests } from "@mlrb/local/records/record-index";
import { signDigest } from "@mlrb/local/signatures/ssh-signature";
import { attemptPlace } from "../../request/find-attempt.ts";
import { refuseWords } from "../../request/refuse.ts";
import { type PlaceOptions, rootFolder } from "../../request/root-folder.ts";
import { typedProgram } from "../../request/typed-program.ts";
import { oneLine } from "../../show/print.ts";
import type { ExportLogOptions } from "./attempts-export-log.ts";

export type ExportOptions = PlaceOptions & Partial<ExportLogOptions> & { sign?: string };

export async function attemptsExport(
  repository: string,
  dir: string,
  prefixes: string[],
  options: ExportOptions,
): Promise<number> {
  const { format, sign } = options;
  if (format !== undefined) {
    const { attemptsExportLog } = await import("./attempts-export-log.ts");
    return attemptsExportLog(repository, [dir, ...prefixes], { ...options, format });
  }
  const { records, state } = attemptPlace(repository, options.root);
  const all = named(records, prefixes);
  if (!all) return 2;
  const found = all.filter(({ digest }) => !records.thinned().files.has(digest));
  for (const { digest } of all)
    if (!found.some((one) => one.digest === digest))
      process.stderr.write(
        `left out: attempt ${digest.slice(0, 12)} is thinned, and no machine could import it\n`,
      );
  if (prefixes.length > 0 && found.length < all.length) return 2;
  const own = join(state.attempts, "records");
  const to = rootFolder(repository, dir);
  const added = found.map(({ digest }) => digest);
  const decisions = unexported(state.attempts, { to, records: added });
  const archive = { attempts: state.attempts, own, to, added, decisions };
  const problem = sign === undefined ? signedProblem(archive) : foreignProblem(archive, records);
  if (problem !== undefined) return refuseWords(problem);
  mkdirSync(to, { recursive: true });
  if (sign !== undefined) rmSync(join(to, signatureFile), { force: true }); // it may not cover what is added
  const copied = new Map<string, string>();
  for (const { digest } of found) exportRecord(join(own, digest), join(to, digest), copied);
  exportAdjudications(to, decisions);
  const signed =
    sign === undefined ? undefined : signArchive(archive, { key: rootFolder(repository, sign), records });
  if (signed !== undefined && "problem" in signed) return refuseWords(signed.problem);
  const how = signed ? `, signed; the archive's digest is ${signed.digest}` : "";
  const decided = decisions.length > 0 ? `, ${counted(decisions.length, "decision")}` : "";
  process.stdout.write(`${counted(found.length, "attempt")} exported${decided}${how}\n`);
  return 0;
}

type Archive = { attempts: string; own: string; to: string; added: string[]; decisions: object[] };

/** A signed archive cannot grow without a new signature. */
function signedProblem({ to, added, decisions }: Archive): string | undefined {
  const present = new Set(recordDigests(to));
  const isCovered = added.every((digest) => present.has(digest)) && decisions.length === 0;
  if (!existsSync(join(to, signatureFile)) || isCovered) return undefined;
  return `signed-archive: ${to} is signed, and its signature does not cover further records or decisions\n  help: pass --sign KEY to sign it again, or export to another folder`;
}

/** A signature vouches for all records of the folder, so all must be records of this machine. */
function foreignProblem({ attempts, own, to }: Archive, records: AttemptRecords): string | undefined {
  const held = new Set(records.list());
  const present = recordDigests(to);
  const foreign = present.find((digest) => !held.has(digest));
  const areKnown = knowsAdjudications(attempts, to);
  const there = archiveDigest(to, { digests: present });
  const here = archiveDigest(own, { digests: present, decisions: to });
  if (foreign === undefined && areKnown && there === here) return undefined;
  const what =
    foreign !== undefined
      ? `${foreign.slice(0, 12)}, which is no record here`
      : areKnown
        ? "a log that differs from its record here"
        : "a person's decision that is not known here";
  return `foreign-archive: ${to} holds ${what}, and a signature would vouch for it\n  help: export to an empty folder`;
}

function signArchive(
  { own, to }: Archive,
  { key, records }: { key: string; records: AttemptRecords },
): { digest: string } | { problem: string } {
  const present = recordDigests(to);
  const digest = archiveDigest(own, { digests: present, decisions: to });
  const signature = signDigest(digest, { of: "attempts-archive", key });
  if (signature.kind === "refused")
    return {
      problem: `${signature.code}: ${oneLine(signature.message)}; the archive is unsigned\n  help: ${signature.help}`,
    };
  writeWhole(join(to, signatureFile), signature.text);
  const imported = present.filter((one) => records.originOf(one) !== undefined).length;
  if (imported > 0)
    process.stderr.write(
      `note: ${counted(imported, "attempt")} of this archive ${imported === 1 ? "was" : "were"} imported here; your signature vouches for ${imported === 1 ? "it" : "them"}\n`,
    );
  return { digest };
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
        `unknown-attempt: ${what} digest begins with "${prefix}"\n  help: \`${typedProgram()} attempts list\` shows all ${all.length}\n`,
      );
      return undefined;
    }
    chosen.push(found[0]!);
  }
  return [...new Set(chosen)].map((digest) => ({ digest, record: records.read(digest) }));
}
