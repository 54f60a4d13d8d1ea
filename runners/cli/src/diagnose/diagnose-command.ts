// `pipeline diagnose`: writes what helps to find out why a profile does not run here, as one archive that may be shared:
// versions, doctor's output, plan, journals and logs, without keys, private rows and weights.

import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
} from "node:fs";
import { homedir, hostname, release, tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { pipeline as piped } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Plan } from "@mlrb/core/plan/plan";
import { counted } from "@mlrb/core/text/counted";
import { formatBytes } from "@mlrb/core/text/units";
import { previewPlan } from "@mlrb/local/decide/preview-plan";
import type { StateFolder } from "@mlrb/local/store/state-folder";
import { openWorkspace, type Workspace } from "@mlrb/local/store/workspace";
import { pack } from "tar-stream";
import { doctorAnswers } from "../commands/doctor-command.ts";
import { readRequest } from "../request/request.ts";
import { rootFolder } from "../request/root-folder.ts";
import { doctorText } from "../show/doctor-text.ts";
import { printJson } from "../show/print-json.ts";
import { type BundleFile, journalFiles, logFiles, planFile } from "./bundle-files.ts";
import { textCleaner } from "./clean-text.ts";

export type DiagnoseOptions = {
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
  const { path, files, bytes } = await writeBundle({
    plan,
    workspace,
    typed: pipeline,
    set: options.set,
    to,
  });
  if (options.json) printJson({ event: "diagnose", path, files, bytes });
  else process.stdout.write(`${bundleWords({ path, files, bytes })}\n`);
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
    user: userName(),
  });
  const every = plan.instances.map(({ index }) => index);
  const { previews } = await previewPlan(plan, every, { workspace, stale: { kind: plan.onStale } });
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
    ...("problems" in answers ? [] : [{ name: "doctor.txt", text: clean(doctorText(typed, answers)) }]),
    planFile(plan, previews, clean),
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
  return named.flatMap(([path, word]): [string, string][] => {
    if (!path) return [];
    const real = realPath(path);
    return real === undefined || real === path
      ? [[path, word]]
      : [
          [path, word],
          [real, word],
        ];
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

/** Empty if the machine does not know the user's name, as in some containers. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "";
  }
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
