// `pipeline attempts import`: adds records that another machine exported. `pipeline attempts use`: chooses between
// records that compete for one attempt. An imported record never replaces one silently.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { counted } from "@mlrb/core/text/counted";
import { importAdjudications } from "@mlrb/local/records/adjudications";
import { archiveDigest, archiveSignature, signatureFile } from "@mlrb/local/records/archives/record-archive";
import type {
  AttemptRecords,
  HeldRecord,
  ImportEnd,
  ImportedFrom,
} from "@mlrb/local/records/attempt-records";
import { recordDigests } from "@mlrb/local/records/record-index";
import { verifyDigest } from "@mlrb/local/signatures/ssh-signature";
import {
  type Conflict,
  conflictLines,
  conflictsAmong,
  recordText,
} from "../../attempts/competing-records.ts";
import { attemptPlace, findAttempt } from "../../request/find-attempt.ts";
import { refuseWords } from "../../request/refuse.ts";
import { type PlaceOptions, rootFolder } from "../../request/root-folder.ts";
import { typedProgram } from "../../request/typed-program.ts";
import { oneLine, printJson, printLine } from "../../show/print.ts";

export type ImportOptions = PlaceOptions & { preferImported: boolean; requireSigned: boolean };

export function attemptsImport(repository: string, dir: string, options: ImportOptions): number {
  const { records, state } = attemptPlace(repository, options.root);
  const folder = rootFolder(repository, dir);
  if (!existsSync(folder)) return refuseWords(`unknown-folder: there is no folder ${dir}`);
  const from = importedFrom(folder, join(state.state, "allowed_signers"), options.requireSigned);
  if ("problem" in from) return refuseWords(from.problem);
  const now = new Date();
  const ends = recordDigests(folder).map((digest) => ({
    digest,
    end: records.import(join(folder, digest), digest, from, now),
  }));
  const held = ends
    .filter(({ end }) => end.kind !== "refused")
    .map(({ digest }) => ({ digest, record: records.read(digest) }));
  if (options.preferImported) preferImported(held, records, now);
  const decisions = importAdjudications(state.attempts, folder, {
    from,
    held: new Set(held.map(({ digest }) => digest)),
    origins: (record) => records.originOf(record),
    prefer: options.preferImported,
  });
  const conflicts = conflictsAmong(held, records);
  if (options.json) {
    for (const { digest, end } of ends) printJson({ event: "attempt-import", record: digest, ...end });
    for (const one of conflicts) printJson({ event: "attempt-conflict", ...one });
    printJson({ event: "decisions-import", ...decisions });
  } else {
    if (from.signedBy !== null)
      printLine(`archive ${from.archive.slice(0, 12)}, signed by ${from.signedBy} (${from.signingKey})`);
    printImport(ends, conflicts, records);
    for (const problem of decisions.problems)
      process.stderr.write(`${oneLine(`refused a decision: ${problem}`)}\n`);
    if (decisions.imported > 0) process.stdout.write(`${counted(decisions.imported, "decision")} imported\n`);
  }
  const isRefused = ends.some(({ end }) => end.kind === "refused") || decisions.problems.length > 0;
  return isRefused ? 1 : 0;
}

/** Where the archive's records come from. A signature that cannot be checked stops the import. */
function importedFrom(
  folder: string,
  allowedSigners: string,
  requireSigned: boolean,
): ImportedFrom | { problem: string } {
  const archive = archiveDigest(folder);
  let signature: string | undefined;
  try {
    signature = archiveSignature(folder);
  } catch (error) {
    return { problem: `bad-signature: ${oneLine((error as Error).message)}` };
  }
  if (signature === undefined && requireSigned)
    return {
      problem: `unsigned-archive: ${oneLine(folder)} has no signature\n  help: \`${typedProgram()} attempts export DIR --sign KEY\` on the other machine makes a signed archive`,
    };
  if (signature === undefined) return { archive, signedBy: null, signingKey: null };
  const found = verifyDigest(archive, signature, { of: "attempts-archive", allowedSigners });
  if (found.kind === "valid") return { archive, signedBy: found.signedBy, signingKey: found.signingKey };
  const unsigned = requireSigned ? "" : `; without its ${signatureFile} the archive is imported as unsigned`;
  return {
    problem: `${found.code}: ${oneLine(found.message)}; nothing was imported\n  help: ${oneLine(found.help)}${unsigned}`,
  };
}

/** Chooses each record of the archive over all that compete with it, unless one of these is of the same archive. */
function preferImported(held: HeldRecord[], records: AttemptRecords, now: Date): void {
  const own = new Set(held.map(({ digest }) => digest));
  for (const one of held) {
    const others = records.competing(one);
    const over = others.filter((digest) => !own.has(digest));
    const isClear = !records.undecidedWith(one).some((digest) => digest !== one.digest && own.has(digest));
    if (isClear && over.length > 0 && records.originOf(one.digest))
      records.choose(one.digest, over, now.toISOString());
  }
}

type Ended = { digest: string; end: ImportEnd };

function printImport(ends: Ended[], conflicts: Conflict[], records: AttemptRecords): void {
  for (const { digest, end } of ends)
    if (end.kind === "refused")
      process.stderr.write(`${oneLine(`refused ${digest.slice(0, 12)}: ${end.problem}`)}\n`);
  for (const line of conflicts.flatMap((one) => conflictLines(one, records)))
    process.stderr.write(`${oneLine(line)}\n`);
  const count = (kind: ImportEnd["kind"]) => ends.filter(({ end }) => end.kind === kind).length;
  const more = (["restored", "here", "refused"] as const).flatMap((kind) =>
    count(kind) > 0 ? [`, ${count(kind)} ${kind === "here" ? "already here" : kind}`] : [],
  );
  const undecided = conflicts.length > 0 ? `, ${counted(conflicts.length, "conflict")}` : "";
  process.stdout.write(`${counted(count("imported"), "attempt")} imported${more.join("")}${undecided}\n`);
}

export function attemptsUse(repository: string, what: string, options: PlaceOptions): number {
  const place = attemptPlace(repository, options.root);
  const { records } = place;
  const found = /^[0-9a-f]{1,64}$/.test(what) ? findAttempt(what, place) : undefined;
  if (found === undefined || typeof found === "string" || found.kind !== "record") {
    const why =
      typeof found === "string" ? found : `unknown-attempt: "${what}" is not the digest of a record`;
    return refuseWords(
      `${why}${why.includes("\n") ? "" : `\n  help: \`${typedProgram()} attempts list\` shows them`}`,
    );
  }
  const over = records.competing(found);
  if (!records.originOf(found.digest) && !over.some((digest) => records.originOf(digest)))
    return refuseWords(
      `nothing-to-decide: no imported record competes with ${recordText(found.digest, records)}; of records that were made here, the newest is current`,
    );
  records.choose(found.digest, over, new Date().toISOString());
  const { pipeline, profile, stage } = found.record.slot;
  if (options.json) printJson({ event: "attempt-use", record: found.digest, slot: found.record.slot, over });
  else {
    printLine(`${recordText(found.digest, records)} is current in ${pipeline} (${profile})  ${stage}`);
    for (const digest of over)
      printLine(
        `  instead of ${recordText(digest, records)}; back: ${typedProgram()} attempts use ${digest.slice(0, 12)}`,
      );
  }
  return 0;
}
