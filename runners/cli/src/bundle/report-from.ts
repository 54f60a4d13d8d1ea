// `pipeline report --from`: checks an evidence bundle and rebuilds the report from it, without a plan, a cache and
// a network. A bundle comes from another person: nothing of it is read before its digests are right, and it names
// no program.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { counted } from "@mlrb/core/text/counted";
import { type Reading, readFormat, unreadableWords } from "@mlrb/formats/read-format";
import { type EvidenceBundle, evidenceBundle } from "@mlrb/formats/report/evidence-bundle";
import { filesIn } from "@mlrb/kit/files/files-in";
import { processName } from "@mlrb/kit/processes/process-name";
import { printProtocol } from "../protocol/write-protocol.ts";
import { failed } from "../request/refuse.ts";
import { isEmptyFolder, rootFolder, typedIn } from "../request/root-folder.ts";
import { oneLine, printJson } from "../show/print.ts";
import { showReport } from "../show/show-report.ts";
import { payload } from "./bag.ts";
import { bundleSignature } from "./bundle-signature.ts";
import { readBag } from "./read-bag.ts";
import { bundleFile, differentFiles, protocolIn, rebuildPage, rebuildTables } from "./rebuild-results.ts";
import { digestsIn } from "./report-bundle.ts";

/** `output`: the folder for the rebuilt report. */
export type FromOptions = { root?: string; output?: string; groups: boolean; json: boolean };

/** Returns 0; 1 if the bundle was changed, its signature is not valid, or the rebuilt report differs. */
export async function reportFrom(repository: string, typed: string, options: FromOptions): Promise<number> {
  const path = resolve(typedIn(), typed);
  if (!existsSync(path))
    return failed(`no-bundle: there is no file ${path}`, "`report PIPELINE --bundle FILE` writes one");
  const to = resolve(typedIn(), options.output ?? basename(path).replace(/\.zip$/, ".report"));
  if (existsSync(to) && !isEmptyFolder(to))
    return failed(`exists: ${to} is not an empty folder`, "name another one with --output");
  const signed = bundleSignature(path, rootFolder(repository, options.root));
  if (signed.kind === "refused") return failed(`${signed.code}: ${path}: ${signed.words}`, signed.help);
  const folder = mkdtempSync(join(tmpdir(), "mlrb-bundle-"));
  try {
    const problems = await readBag(path, join(folder, "bag"));
    const from = join(folder, "bag", payload);
    const about = problems.length > 0 ? undefined : aboutIn(from);
    if (about?.kind !== "ok")
      return changed(
        path,
        about ? [`${payload}${bundleFile} cannot be read (${about.cause})`] : problems,
        options,
      );
    const files = filesIn(from).length;
    if (options.json) printJson({ event: "bundle", path, files, changed: [], signature: signed });
    else process.stdout.write(`${path}: ${counted(files, "file")}, every byte as listed; ${signed.words}\n`);
    return await rebuild(repository, { plan: about.value, folder, from, to, options });
  } catch (error) {
    return failed(
      `not-rebuilt: ${(error as Error).message}`,
      "use the version of this program that wrote the bundle",
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function aboutIn(from: string): Reading<EvidenceBundle> {
  const path = join(from, bundleFile);
  if (!existsSync(path)) return { kind: "unreadable", cause: "there is none" };
  const reading = readFormat(evidenceBundle, readFileSync(path, "utf8"));
  if (reading.kind === "ok") return reading;
  return { kind: "unreadable", cause: unreadableWords(reading) };
}

const shownMax = 20;

function changed(path: string, problems: string[], { json }: FromOptions): number {
  if (json) printJson({ event: "bundle", path, changed: problems });
  const more = problems.length - shownMax;
  const lines = [...problems.slice(0, shownMax), ...(more > 0 ? [`${more} more places`] : [])];
  if (!json) for (const line of lines) process.stderr.write(`${oneLine(`changed: ${line}`)}\n`);
  return failed(
    `changed-bundle: ${path}: it was changed after it was written, or damaged on its way`,
    "get the bundle again from its author",
  );
}

type Rebuilding = {
  plan: EvidenceBundle;
  /** For files of this command only. */
  folder: string;
  /** The bundle's files. */
  from: string;
  to: string;
  options: FromOptions;
};

async function rebuild(repository: string, { plan, folder, from, to, options }: Rebuilding): Promise<number> {
  const temporary = `${to}.${processName}.tmp`;
  try {
    mkdirSync(temporary, { recursive: true });
    const made = join(folder, "made");
    mkdirSync(made);
    rebuildTables(repository, { from, to: made });
    rebuildPage(plan, { from, to: made });
    const rebuilt = digestsIn(made);
    const different = differentFiles(rebuilt, digestsIn(join(from, "results")));
    cpSync(made, temporary, { recursive: true }); // perhaps another disk
    rmSync(to, { recursive: true, force: true }); // an empty folder
    renameSync(temporary, to);
    if (!options.json) {
      await showReport(to, options);
      printProtocol(protocolIn(from, plan));
    }
    const page = join(to, "report.html");
    if (options.json) printJson({ event: "rebuilt", folder: to, files: [...rebuilt.keys()], different });
    else if (different.length === 0)
      process.stdout.write(
        `\nrebuilt ${counted(rebuilt.size, "file")} in ${to}, byte for byte as in the bundle\n${page}\n`,
      );
    if (different.length === 0) return 0;
    return failed(
      `not-rebuilt: ${different.join(", ")} in ${to}: other bytes than in the bundle's results/`,
      "use the version of this program that wrote it: page.json in the bundle names the commit",
    );
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}
