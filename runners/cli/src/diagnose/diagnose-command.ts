// `pipeline diagnose`: writes what helps to find out why a profile does not run here, as one archive that may be
// shared: versions, doctor's output, plan, journals and logs, each cleaned. It holds no artifact and no file of a
// record: no data, no weights, no trajectory.
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { homedir, hostname, release, tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { pipeline as piped } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { reasonWords } from "@mlrb/core/key/reasons";
import type { Plan } from "@mlrb/core/plan/plan";
import { counted } from "@mlrb/core/text/counted";
import { formatBytes } from "@mlrb/core/text/units";
import { readFrom } from "@mlrb/kit/files/read-from";
import { previewPlan } from "@mlrb/local/decide/preview-plan";
import { type JournalLine, journalLines } from "@mlrb/local/journal/journal-lines";
import { recentRuns } from "@mlrb/local/journal/last-ends";
import { logPath } from "@mlrb/local/stage/log-path";
import { ifReadable } from "@mlrb/local/store/if-readable";
import type { StateFolder } from "@mlrb/local/store/state-folder";
import { openWorkspace, type Workspace } from "@mlrb/local/store/workspace";
import { pack } from "tar-stream";
import { doctorAnswers } from "../commands/doctor-command.ts";
import { readRequest } from "../request/request.ts";
import { rootFolder } from "../request/root-folder.ts";
import { doctorText } from "../show/doctor-text.ts";
import { printJson } from "../show/print.ts";
import { shapeOf, textCleaner } from "./clean-text.ts";

type BundleFile = { name: string; text: string };

type DiagnoseOptions = {
  profile?: string;
  set: string[];
  root?: string;
  output?: string;
  json: boolean;
};

export async function diagnoseCommand(
  repository: string,
  pipeline = "full-benchmark",
  options: DiagnoseOptions,
): Promise<number> {
  const request = await readRequest(repository, pipeline, { ...options, only: [] });
  if (!request) return 2;
  const { plan, root } = request;
  const workspace = openWorkspace({ repository, root, pipeline: plan.pipeline, profile: plan.profile });
  const to = options.output === undefined ? undefined : rootFolder(repository, options.output);
  const bundle = await writeBundle({ plan, workspace, typed: pipeline, set: options.set, to });
  if (options.json) printJson({ event: "diagnose", ...bundle });
  else process.stdout.write(`${bundleWords(bundle)}\n`);
  return 0;
}

type Bundle = { path: string; files: number; bytes: number };

export function bundleWords({ path, files, bytes }: Bundle): string {
  return `diagnostic bundle: ${path} (${counted(files, "file")}, ${formatBytes(bytes)} of text; without keys, private rows and weights; read it before you share it)`;
}

export async function writeBundle({
  plan,
  workspace,
  typed,
  set,
  to,
}: {
  plan: Plan;
  workspace: Workspace;
  /** The pipeline as typed. */
  typed: string;
  set: string[];
  /** Where it is written; by default in the state folder. */
  to: string | undefined;
}): Promise<Bundle> {
  const { repository, state } = workspace;
  const now = new Date();
  const clean = textCleaner({
    variables: process.env,
    secrets: [...new Set(plan.instances.flatMap(({ action }) => action.secrets))],
    folders: knownFolders(repository, state),
    host: hostname(),
    user: ifReadable(() => userInfo().username) ?? "", // some containers do not know the user's name
  });
  const every = plan.instances.map(({ index }) => index);
  const { previews } = await previewPlan(plan, every, { workspace, stale: { kind: plan.onStale } });
  const planLine = ({ index, action, reasons }: (typeof previews)[number]) =>
    `${action.padEnd(5)}  ${plan.instances[index]!.id}  (${reasons.map(reasonWords).join("; ")})\n`;
  const source = { plan, state, clean };
  const answers = await doctorAnswers(repository, typed, {
    ...{ profile: plan.profile, set, root: state.root, models: false, json: false },
  });
  const about = {
    formatVersion: 1,
    createdAt: now.toISOString(),
    ...{ pipeline: plan.pipeline, profile: plan.profile, set },
    ...{ node: process.version, platform: process.platform, arch: process.arch, kernel: release() },
  };
  const files: BundleFile[] = [
    { name: "about.json", text: clean(`${JSON.stringify(about, null, 2)}\n`) },
    ...(!answers || "problems" in answers
      ? []
      : [{ name: "doctor.txt", text: clean(doctorText(typed, answers)) }]),
    { name: "plan.txt", text: clean(previews.map(planLine).join("")) },
    ...journalFiles(source),
    ...logFiles(source),
  ];
  const stamp = now.toISOString().replace(/[-:]|\.\d+/g, "");
  const path = to ?? join(state.state, "diagnostics", `${plan.pipeline}-${plan.profile}-${stamp}.tar.gz`);
  await writeArchive(path, files);
  const bytes = files.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  return { path, files: files.length, bytes };
}

/** Folders of this machine that texts may name, each also by its real path. */
function knownFolders(
  repository: string,
  { state, root, environments }: Pick<StateFolder, "state" | "root" | "environments">,
): [path: string, word: string][] {
  const named: [string | undefined, string][] = [
    [state, "STATE"],
    [root, "ROOT"],
    [repository, "REPOSITORY"],
    [process.env.HF_HOME, "HF_HOME"],
    [tmpdir(), "TMPDIR"],
    [homedir(), "HOME"],
    [dirname(process.execPath), "NODE"],
    ...interpreters(environments).map((path): [string, string] => [path, "PYTHON"]),
  ];
  return named.flatMap(([path, word]) => {
    const both = path ? new Set([path, realPath(path) ?? path]) : [];
    return [...both].map((one): [string, string] => [one, word]);
  });
}

/** The folders that hold the interpreters of the Python environments, e.g. a user's installation of uv. */
function interpreters(environments: string): string[] {
  if (!existsSync(environments)) return [];
  const found = readdirSync(environments).flatMap(
    (name) => realPath(join(environments, name, "bin/python")) ?? [],
  );
  return [...new Set(found.map((path) => dirname(dirname(path))))].filter((path) => path !== "/usr");
}

function realPath(path: string): string | undefined {
  return existsSync(path) ? realpathSync(path) : undefined;
}

/** By temporary name, so that no half archive has the name. */
async function writeArchive(path: string, files: readonly BundleFile[]): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  const archive = pack();
  for (const { name, text } of files) archive.entry({ name, mode: 0o600, mtime: new Date(0) }, text);
  archive.finalize();
  const temporary = `${path}.tmp`;
  try {
    await piped(archive, createGzip(), createWriteStream(temporary, { mode: 0o600 }));
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

const journalsMax = 5;
/** Of each log and each journal, the end. */
const tailBytes = 256 << 10;

type Source = { plan: Plan; state: Pick<StateFolder, "journals" | "logs">; clean: (text: string) => string };

/** Instances whose logs may quote private data: they read or make a private artifact. */
export function privateInstances({ instances }: Plan): Set<string> {
  const isPrivate = ({ from, output }: { from: number; output: string }) =>
    instances[from]!.stage.gives.some((given) => given.name === output && given.private);
  return new Set(
    instances
      .filter(
        ({ stage, inputs, members }) =>
          stage.gives.some((given) => given.private) ||
          [...inputs, ...members.filter(({ digestOnly }) => !digestOnly)].some(isPrivate),
      )
      .map(({ id }) => id),
  );
}

/** The newest journals of the plan's pipeline and profile. */
export function journalFiles({ plan, state, clean }: Source): BundleFile[] {
  const hidden = privateInstances(plan);
  const known = new Set(plan.instances.map(({ id }) => id));
  const mayQuote = (stage: string | undefined) =>
    stage !== undefined && (hidden.has(stage) || !known.has(stage));
  return recentRuns(state.journals, plan)
    .slice(0, journalsMax)
    .map((run) => {
      const lines = journalLines(join(state.journals, `${run}.jsonl`));
      const texts = lines.map((line) => JSON.stringify(mayQuote(line.stage) ? withoutDetail(line) : line));
      const text = clean(texts.map((one) => `${one}\n`).join(""));
      return { name: `journals/${run}.jsonl`, text };
    });
}

/** The fields of a line that hold no output of a program. */
const plainFields = new Set([
  "event",
  "time",
  "stage",
  "key",
  "durationMs",
  "tried",
  "since",
  "cause",
  "log",
]);

function withoutDetail(line: JournalLine & { outcome?: unknown }): object {
  const { kind, cause } = Object(line.outcome) as { kind?: unknown; cause?: unknown };
  const plain = Object.entries(line).filter(([name]) => plainFields.has(name));
  return {
    ...Object.fromEntries(plain),
    ...(kind !== undefined && { outcome: { kind, ...(cause !== undefined && { cause }) } }),
  };
}

/** The end of the last log of each instance. */
function logFiles({ plan, state, clean }: Source): BundleFile[] {
  const hidden = privateInstances(plan);
  return plan.instances.flatMap(({ id, index }): BundleFile[] => {
    const text = endOf(logPath(state.logs, id));
    if (!text) return [];
    const shown = hidden.has(id) ? shapeOf(text) : text;
    if (shown === "") return [];
    const head = `# ${id}${hidden.has(id) ? ", which reads private data: only where it failed" : ""}\n`;
    const name = `${String(index).padStart(4, "0")}-${id.replace(/[^\w.=-]+/g, "_").slice(0, 120)}`;
    return [{ name: `logs/${name}.log`, text: clean(head + shown) }];
  });
}

function endOf(path: string): string | undefined {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const text = readFrom(path, Math.max(0, size - tailBytes), tailBytes)?.toString("utf8");
  // the rest of a line may be half of a secret
  return size > tailBytes ? text?.slice(text.indexOf("\n") + 1) : text;
}
