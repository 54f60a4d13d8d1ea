// `pipeline report`: prints the published results, and whether they are up to date. Runs nothing and writes nothing,
// except a page that is missing or shows other departures, with --dataset a folder for other programs, and with
// --bundle an archive. With --from it reads such an archive instead of results.
import { existsSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { formatDuration } from "@mlrb/core/text/units";
import type { ProtocolResult } from "@mlrb/formats/report/protocol";
import { filesIn } from "@mlrb/kit/files/files-in";
import { hashFile } from "@mlrb/local/digests/hash-file";
import { publishedFiles, resultsFolder } from "@mlrb/local/run/publish-results";
import type { PageRequest } from "../attempts/page-data.ts";
import { readStates } from "../attempts/read-states.ts";
import { pageFile, writePage } from "../attempts/write-page.ts";
import { failed, refused, refuseWords } from "../request/refuse.ts";
import { rememberedRequest } from "../request/remembered-request.ts";
import type { CommonOptions } from "../request/request.ts";
import { typedCommand } from "../request/typed-command.ts";
import { typedProgram } from "../request/typed-program.ts";
import { openFile } from "../show/open-file.ts";
import { printJson } from "../show/print.ts";
import { type ReportAge, reportAge, reportAgeWords } from "../show/report-age.ts";
import { showReport } from "../show/show-report.ts";
import { type NodePlace, reusedKeys } from "../show/trace-nodes.ts";
import { writeDataSet } from "./write-data-set.ts";

type ReportOptions = Omit<CommonOptions, "only" | "executor"> & {
  open: boolean;
  groups: boolean;
  /** An earlier run, a folder of results or a report.json. */
  against?: string;
  /** With `against`. */
  markdown: boolean;
  dataset?: string;
  bundle?: string;
  sign?: string;
  from?: string;
  output?: string;
};

export async function reportCommand(
  repository: string,
  named: string | undefined,
  options: ReportOptions,
): Promise<number> {
  const problem = wordsProblem(named, options);
  if (problem !== undefined) return refuseWords(problem);
  if (options.from !== undefined) {
    const { reportFrom } = await import("../bundle/report-from.ts");
    return reportFrom(repository, options.from, options);
  }
  return reportOf(repository, named!, options);
}

/** Words that do not belong together. */
function wordsProblem(pipeline: string | undefined, options: ReportOptions): string | undefined {
  const { from, bundle, sign, output } = options;
  if (from === undefined && pipeline === undefined)
    return `no-pipeline: report needs the name of a pipeline, or --from FILE\n  help: \`${typedProgram()} list pipelines\` shows all`;
  if (from !== undefined && pipeline !== undefined)
    return `two-reports: --from FILE names the report, so ${pipeline} is one too many\n  help: leave out ${pipeline}`;
  if (from === undefined && output !== undefined)
    return "no-bundle: --output needs --from FILE\n  help: name the evidence bundle with --from";
  if (bundle === undefined && sign !== undefined)
    return "no-bundle: --sign needs --bundle FILE\n  help: name the file to write with --bundle";
  return undefined;
}

async function reportOf(repository: string, pipeline: string, options: ReportOptions): Promise<number> {
  const looked = await rememberedRequest(repository, pipeline, { ...options, only: [] });
  if (!looked) return 2;
  const { plan, root } = looked;
  if (options.markdown && options.against === undefined)
    return refused("markdown-alone: --markdown prints a comparison", "add --against");
  const folder = join(root, resultsFolder(plan));
  const laidOut = existsSync(folder) ? filesIn(folder) : [];
  if (laidOut.length === 0) {
    const help = plan.stages.some(({ publishes }) => publishes)
      ? typedCommand("run", pipeline, options)
      : `no stage of ${plan.pipeline} publishes files; \`${typedProgram()} log\` prints the output of its stages`;
    return failed(`no-results: there are no files in ${relative(root, folder)} under ${root}`, help);
  }
  const { instances, results, workspace } = await readStates(repository, looked);
  const { files: given } = publishedFiles(plan, results, workspace);
  const asGiven = [...given].every(([path, digest]) => {
    const laid = join(folder, path);
    return existsSync(laid) && hashFile(laid) === digest;
  });
  const age = reportAge(plan, { instances, asGiven });
  const run = typedCommand("run", pipeline, options);
  if (options.against !== undefined) {
    const { reportAgainst } = await import("../against/report-against.ts");
    const { against } = options;
    return reportAgainst({ plan, workspace, folder, against, options, run, age: reportAgeWords(age, run) });
  }
  const reused = reusedKeys(instances.map(({ preview }) => preview));
  const protocol = await protocolIn(folder, { plan, workspace, reused });
  await drawPage({ plan, workspace, reused, folder, options }, protocol);
  const files = filesIn(folder);
  const laidOutMs = Math.max(...laidOut.map((file) => statSync(join(folder, file)).mtimeMs));
  if (options.dataset !== undefined || options.bundle !== undefined)
    return exportResults(repository, { plan, workspace, reused, folder, options, age, run });
  const chosen = readable(files);
  if (options.json) {
    const { pipeline: name, profile, selection } = plan;
    const laidOutAt = new Date(laidOutMs).toISOString();
    const line = { event: "report", pipeline: name, profile, selection, folder, files, laidOutAt, ...age };
    printJson({ ...line, ...(protocol && { protocol }) });
  } else {
    await showReport(folder, options);
    if (protocol) (await import("../protocol/write-protocol.ts")).printProtocol(protocol);
    process.stdout.write(ending({ folder, files, laidOutMs, age, run }));
  }
  if (!options.open) return 0;
  const problem = await openFile(join(folder, chosen));
  if (problem === undefined) return 0;
  return failed(`not-opened: ${problem}`, `open ${join(folder, chosen)} yourself`);
}

/** Draws a page that is missing, and one whose departures are others now. A reader may not be allowed to write it. */
async function drawPage(request: PageRequest, protocol: ProtocolResult | undefined): Promise<void> {
  const path = join(request.folder, pageFile);
  if (!existsSync(path)) {
    await writePage(request); // results copied from elsewhere have no page
    return;
  }
  if (!protocol || (await import("../protocol/write-protocol.ts")).hasProtocol(request.folder, protocol))
    return;
  try {
    await writePage(request);
  } catch (error) {
    process.stderr.write(`old-page: ${path} shows earlier departures: ${(error as Error).message}\n`);
  }
}

/** Of the published report, as of now; undefined without a report of attempts. */
async function protocolIn(folder: string, place: NodePlace): Promise<ProtocolResult | undefined> {
  const path = join(folder, "report.json");
  if (!existsSync(path)) return undefined;
  const [{ readReport }, { protocolOf }] = await Promise.all([
    import("../show/read-report.ts"),
    import("../protocol/observe-protocol.ts"),
  ]);
  const reading = readReport(path);
  return reading.kind === "ok" ? protocolOf(place, reading.value) : undefined;
}

type Exporting = PageRequest & { options: ReportOptions; age: ReportAge; run: string };

/** Writes a data set or a bundle, after words about their age. */
async function exportResults(repository: string, request: Exporting): Promise<number> {
  const { age, run, options, folder } = request;
  const { dataset, bundle, sign, json } = options;
  if (bundle === undefined || !json) process.stdout.write(`${reportAgeWords(age, run).join("\n")}\n`);
  if (bundle === undefined) return writeDataSet(folder, dataset!, run);
  const { writeReportBundle } = await import("../bundle/report-bundle.ts");
  const asked = { ...request, file: bundle, again: run, age: json ? age : null };
  return writeReportBundle(repository, { ...asked, ...(sign !== undefined && { key: sign }) });
}

type Shown = { folder: string; files: string[]; laidOutMs: number; age: ReportAge; run: string };

function ending({ folder, files, laidOutMs, age, run }: Shown): string {
  const ago = formatDuration(Math.max(0, Math.floor((Date.now() - laidOutMs) / 1000) * 1000));
  const where = relative(process.cwd(), folder) || ".";
  const shown = files.length <= 8 ? files.join(", ") : `${files.length} files`;
  const out = ["", `${where}/ (${shown}), published ${ago} ago`, ...reportAgeWords(age, run)];
  return `${out.join("\n")}\n`;
}

/** The file to open: a page, else text, else any file. */
export function readable(files: string[]): string {
  const wanted = [/^report\.html$/, /^report\.md$/, /\.html$/, /\.md$/, /^/];
  return wanted
    .map((pattern) => files.find((file) => pattern.test(file)))
    .find((file) => file !== undefined)!;
}
