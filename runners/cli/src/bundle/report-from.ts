// `pipeline report --from`: checks an evidence bundle and rebuilds the report from it, without a plan, a cache and a
// network. A bundle comes from another person: nothing of it is read before its digests are right, and it names no
// program.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { processName } from "@mlrb/kit/processes/process-name";
import { verifyDigest } from "@mlrb/local/signatures/ssh-signature";
import { statePaths } from "@mlrb/local/store/state-folder";
import { printProtocol } from "../protocol/write-protocol.ts";
import { rootFolder, typedIn } from "../request/root-folder.ts";
import { counted } from "../show/counted.ts";
import { printJson } from "../show/print-json.ts";
import { showReport } from "../show/show-report.ts";
import { differentFiles, protocolIn, rebuildPage, rebuildTables } from "./rebuild-results.ts";
import { digestsIn, refused } from "./report-bundle.ts";
import type { RescoreOptions } from "./rescore-submissions.ts";
import { type ArchiveBytes, type Difference, type Verified, verifyArchive } from "./verify-archive.ts";
import { openArchive } from "./write-archive.ts";

/** `output`: the folder for the rebuilt report. `rescore`: how many submissions are scored again, as typed. */
export type FromOptions = Omit<RescoreOptions, "rescore"> & {
  verify: boolean;
  output?: string;
  groups: boolean;
  rescore?: string;
};

const shownMax = 20;

/** Returns 0; 1 if the bundle was changed, its signature is not valid, or the rebuilt report differs. */
export async function reportFrom(repository: string, typed: string, options: FromOptions): Promise<number> {
  const path = resolve(typedIn(), typed);
  if (!existsSync(path))
    return refused(`no-bundle: there is no file ${path}`, "`report PIPELINE --bundle FILE` writes one");
  const to = resolve(typedIn(), options.output ?? basename(path).replace(/\.tar$/, ".report"));
  const { rescore } = options;
  const isOnlyRead = options.verify || rescore !== undefined;
  if (!isOnlyRead && existsSync(to) && !isEmptyFolder(to))
    return refused(`exists: ${to} is not an empty folder`, "name another one with --output");
  const archive = openArchive(path);
  try {
    const found = verifyArchive(archive);
    if (found.kind === "unreadable" || found.differences.length > 0) return changed(path, found, options);
    const signed = signatureOf(found, rootFolder(repository, options.root));
    if (options.json)
      printJson({ event: "bundle", path, files: found.bundle.files.length, changed: [], signature: signed });
    else
      process.stdout.write(
        `${path}: ${counted(found.bundle.files.length, "file")}, every byte as listed; ${signed.words}\n  digest of its list: ${found.digest}\n`,
      );
    if (signed.kind === "refused") return refused(`${signed.code}: ${signed.words}`, signed.help);
    if (rescore !== undefined) {
      const { rescoreSubmissions } = await import("./rescore-submissions.ts");
      const { pipeline, profile } = found.bundle;
      const bundle = { pipeline, profile, textOf: textIn(archive, found) };
      return await rescoreSubmissions(repository, bundle, { ...options, rescore });
    }
    return options.verify ? 0 : await rebuild(repository, { archive, found, to, options });
  } finally {
    archive.close();
  }
}

function changed(path: string, found: Verified, { json }: FromOptions): number {
  const { differences } = found;
  if (json)
    printJson({
      event: "bundle",
      path,
      changed: differences,
      ...(found.kind === "unreadable" && { cause: found.cause }),
    });
  for (const one of differences.slice(0, json ? 0 : shownMax))
    process.stderr.write(`${differenceWords(one)}\n`);
  if (!json && differences.length > shownMax)
    process.stderr.write(`changed: ${differences.length - shownMax} more places\n`);
  const what =
    found.kind === "unreadable"
      ? `${found.cause}; the other files were not checked`
      : "it was changed after it was written, or damaged on its way";
  return refused(`changed-bundle: ${path}: ${what}`, "get the bundle again from its author");
}

function differenceWords({ file, where, from, to }: Difference): string {
  return `changed: ${file}, ${where} (archive from byte ${from} to ${to - 1})`;
}

type Signed =
  | { kind: "unsigned" | "valid" | "unknown"; words: string }
  | { kind: "refused"; code: string; words: string; help: string };

function signatureOf({ digest, signature }: Verified & { kind: "read" }, root: string): Signed {
  if (signature === undefined) return { kind: "unsigned", words: "unsigned: nothing says who made it" };
  const allowedSigners = join(statePaths(root).state, "allowed_signers");
  const found = verifyDigest(digest, signature, { of: "evidence-bundle", allowedSigners });
  if (found.kind === "valid")
    return { kind: "valid", words: `signed by ${found.signedBy} (${found.signingKey})` };
  // a bundle of a stranger can be read; who signed it is then not known
  if (found.code === "unknown-signer") return { kind: "unknown", words: `${found.message}; ${found.help}` };
  return { kind: "refused", code: found.code, words: found.message, help: found.help };
}

type Rebuilding = {
  archive: ArchiveBytes;
  found: Verified & { kind: "read" };
  to: string;
  options: FromOptions;
};

async function rebuild(repository: string, { archive, found, to, options }: Rebuilding): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-bundle-"));
  const temporary = `${to}.${processName}.tmp`;
  try {
    const from = join(folder, "files");
    for (const { name, file, contentAt } of found.entries)
      if (file) unpack(archive, { at: contentAt, bytes: file.bytes, path: join(from, name) });
    mkdirSync(temporary, { recursive: true });
    const made = join(folder, "made");
    mkdirSync(made);
    rebuildTables(repository, { from, to: made });
    rebuildPage(found.bundle, { from, to: made });
    const rebuilt = digestsIn(made);
    const different = differentFiles(rebuilt, digestsIn(join(from, "results")));
    cpSync(made, temporary, { recursive: true }); // perhaps another disk
    rmSync(to, { recursive: true, force: true }); // an empty folder
    renameSync(temporary, to);
    if (!options.json) {
      await showReport(to, options);
      printProtocol(protocolIn(from, found.bundle));
    }
    const page = join(to, "report.html");
    if (options.json) printJson({ event: "rebuilt", folder: to, files: [...rebuilt.keys()], different });
    else if (different.length === 0)
      process.stdout.write(
        `\nrebuilt ${counted(rebuilt.size, "file")} in ${to}, byte for byte as in the bundle\n${page}\n`,
      );
    if (different.length === 0) return 0;
    return refused(
      `not-rebuilt: ${different.join(", ")} in ${to}: other bytes than in the bundle's results/`,
      "use the version of this program that wrote it: page.json in the bundle names the commit",
    );
  } catch (error) {
    return refused(
      `not-rebuilt: ${(error as Error).message}`,
      "use the version of this program that wrote the bundle",
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Reads a verified file as text; throws if the bundle has no such file. */
function textIn(archive: ArchiveBytes, { entries }: Verified & { kind: "read" }): (path: string) => string {
  return (path) => {
    const entry = entries.find(({ name, file }) => file && name === path);
    if (!entry) throw new Error(`the bundle has no ${path}`);
    return archive.read(entry.contentAt, entry.bytes).toString("utf8");
  };
}

const pieceBytes = 1 << 20;

/** Verified names stay inside the folder. */
function unpack(
  archive: ArchiveBytes,
  { at, bytes, path }: { at: number; bytes: number; path: string },
): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "", { flag: "wx", mode: 0o600 });
  for (let done = 0; done < bytes; done += pieceBytes)
    writeFileSync(path, archive.read(at + done, Math.min(pieceBytes, bytes - done)), { flag: "a" });
}

function isEmptyFolder(path: string): boolean {
  try {
    return readdirSync(path).length === 0;
  } catch {
    return false; // a file
  }
}
