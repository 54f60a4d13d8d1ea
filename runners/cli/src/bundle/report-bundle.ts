// `pipeline report --bundle`: writes the evidence behind a report as one archive, from which the report can be
// rebuilt without the cache, the attempts and the network. Refused unless the rebuilt tables are those of the
// stored report.
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { counted } from "@mlrb/core/text/counted";
import { formatBytes } from "@mlrb/core/text/units";
import { filesIn } from "@mlrb/kit/files/files-in";
import { processName } from "@mlrb/kit/processes/process-name";
import { hashFile } from "@mlrb/local/digests/hash-file";
import type { PageRequest } from "../attempts/page-data.ts";
import { keyCleaner } from "../diagnose/clean-text.ts";
import { failed } from "../request/refuse.ts";
import { typedIn } from "../request/root-folder.ts";
import { printJson } from "../show/print.ts";
import { readReport, readTimes } from "../show/read-report.ts";
import type { ReportAge } from "../show/report-age.ts";
import { signatureFile, signBundle } from "./bundle-signature.ts";
import { checklistText } from "./checklist.ts";
import {
  type Gathering,
  gatherAbout,
  gatherMembers,
  gatherRuns,
  type StoredReport,
  storedReport,
  writeText,
} from "./gather-evidence.ts";
import { gatherPage } from "./gather-page.ts";
import { differentFiles, protocolIn, rebuildPage, rebuildTables } from "./rebuild-results.ts";
import { writeBag } from "./write-bag.ts";

/** `file` and `key` as typed; `again`: the command that makes the results; `age`: for JSON, null for words. */
type BundleRequest = PageRequest & { file: string; key?: string; again: string; age: ReportAge | null };

/** Returns 0, or 1 after an error, with no archive. */
export async function writeReportBundle(repository: string, request: BundleRequest): Promise<number> {
  const { plan, workspace, again } = request;
  const file = resolve(typedIn(), request.file);
  const there = [file, signatureFile(file)].find((path) => existsSync(path));
  if (there !== undefined)
    return failed(`exists: there is a file ${there}`, "name a file that does not exist");
  const stored = storedReport(request, request.folder);
  if (typeof stored === "string") return failed(`no-evidence: ${stored}`, again);
  const folder = mkdtempSync(join(tmpdir(), "mlrb-bundle-"));
  const secrets = {
    variables: process.env,
    secrets: [...new Set(plan.instances.flatMap(({ action }) => action.secrets))],
  };
  const to = join(folder, "files");
  const temporary = `${file}.${processName}.tmp`;
  const clean = keyCleaner(secrets);
  const gathering: Gathering = { plan, workspace, secrets, clean, to, redactions: new Map() };
  try {
    const different = await gather(repository, { stored, gathering, request });
    if (different.length > 0)
      return failed(
        `not-rebuilt: ${different.join(", ")}: the bundle's files give other bytes than the stored report`,
        `a key that was removed may be in the report (search for its words there), or its script has changed: ${again}`,
      );
    const { redacted } = gatherAbout(gathering);
    const paths = filesIn(to);
    mkdirSync(dirname(file), { recursive: true });
    await writeBag(temporary, to, paths);
    if (request.key !== undefined) {
      const signature = signBundle(temporary, resolve(typedIn(), request.key));
      if (signature.kind === "refused")
        return failed(`${signature.code}: ${signature.message}; no bundle was written`, signature.help);
      writeFileSync(signatureFile(file), signature.text);
    }
    renameSync(temporary, file);
    const bytes = paths.reduce((sum, path) => sum + statSync(join(to, path)).size, 0);
    const signed = request.key !== undefined;
    const sums: Sums = { files: paths.length, bytes, redacted: redacted.length, signed };
    if (request.age) printJson({ event: "bundle", path: file, ...sums, ...request.age });
    else process.stdout.write(writtenWords(file, sums));
    return 0;
  } catch (error) {
    return failed(`no-evidence: ${(error as Error).message}; no bundle was written`, again);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    rmSync(temporary, { force: true });
  }
}

type Parts = { stored: StoredReport; gathering: Gathering; request: PageRequest };

/** Fills the folder; returns the report's files that cannot be rebuilt from it. */
async function gather(repository: string, { stored, gathering, request }: Parts): Promise<string[]> {
  const { to, plan } = gathering;
  const results = join(to, "results");
  mkdirSync(results, { recursive: true });
  gatherMembers(stored, gathering);
  rebuildTables(repository, { from: to, to: results });
  const different = differentFiles(digestsIn(results), stored.files);
  if (different.length > 0) return different;
  const reading = readReport(join(results, "report.json"));
  if (reading.kind !== "ok") throw new Error(`report.json: ${reading.cause}`);
  const report = reading.value;
  await gatherPage({ ...request, folder: results, report }, gathering);
  gatherRuns(gathering);
  rebuildPage(plan, { from: to, to: results });
  const times = readTimes(join(results, "times.json"));
  const about = {
    report,
    times: times.kind === "ok" ? times.value : null,
    lock: join(to, "locks/sources.lock.yaml"),
    protocol: protocolIn(to, plan),
  };
  writeText("checklist.md", checklistText(about), gathering);
  return [];
}

/** SHA-256 by path. */
export function digestsIn(folder: string): Map<string, string> {
  return new Map(filesIn(folder).map((path) => [path, hashFile(join(folder, path))]));
}

type Sums = { files: number; bytes: number; redacted: number; signed: boolean };

function writtenWords(file: string, { files, bytes, redacted, signed }: Sums): string {
  return [
    `wrote ${file}: ${counted(files, "file")}, ${formatBytes(bytes)}; ${redacted} redacted (bundle.json says how); no weights and no data`,
    signed
      ? `signed in ${signatureFile(file)}; a reader needs your public key in .mlrb/allowed_signers`
      : "unsigned: it shows that nothing changed by accident, not who made it; --sign KEY signs it",
    "read checklist.md, and choose a licence, before you publish it",
    "",
  ].join("\n");
}
