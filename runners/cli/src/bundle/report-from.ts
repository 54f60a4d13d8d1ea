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
import { counted } from "@mlrb/core/text/counted";
import { processName } from "@mlrb/kit/processes/process-name";
import { printProtocol } from "../protocol/write-protocol.ts";
import { rootFolder, typedIn } from "../request/root-folder.ts";
import { printJson } from "../show/print-json.ts";
import { showReport } from "../show/show-report.ts";
import { changedLines, changedProblem, openBundle, type WholeBundle } from "./open-bundle.ts";
import { differentFiles, protocolIn, rebuildPage, rebuildTables } from "./rebuild-results.ts";
import { digestsIn, refused } from "./report-bundle.ts";
import type { RescoreOptions } from "./rescore-submissions.ts";
import type { ArchiveBytes, Verified } from "./verify-archive.ts";

/** `output`: the folder for the rebuilt report. `rescore`: how many submissions are scored again, as typed. */
export type FromOptions = Omit<RescoreOptions, "rescore"> & {
  verify: boolean;
  output?: string;
  groups: boolean;
  rescore?: string;
};

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
  const opened = openBundle(path, rootFolder(repository, options.root));
  if (opened.kind === "changed") return changed(path, opened.found, options);
  const { archive, found, signed, textOf } = opened;
  try {
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
      return await rescoreSubmissions(repository, { pipeline, profile, textOf }, { ...options, rescore });
    }
    return options.verify ? 0 : await rebuild(repository, { archive, found, to, options });
  } finally {
    opened.close();
  }
}

function changed(path: string, found: Verified, { json }: FromOptions): number {
  if (json)
    printJson({
      event: "bundle",
      path,
      changed: found.differences,
      ...(found.kind === "unreadable" && { cause: found.cause }),
    });
  else
    process.stderr.write(
      changedLines(found)
        .map((line) => `${line}\n`)
        .join(""),
    );
  const { problem, help } = changedProblem(path, found);
  return refused(problem, help);
}

type Rebuilding = {
  archive: ArchiveBytes;
  found: WholeBundle;
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
