// The permissions of an instance's script: its own closure, declared files, inputs, outputs and scratch, and its
// environment; the network and programs where declared. Not restricted: commands (any program), the stages that
// build environments, and supervisors of untrusted stages. Supervisors are part of the harness: a sandbox restricts
// the programs that they start, and a guard must not end a paid attempt.
// Undeclared reads of a supervisor's script are recorded by read-recorder.
import { existsSync, realpathSync, statSync } from "node:fs";
import { delimiter, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { environmentStage, type Instance } from "@mlrb/core/plan/plan";
import type { Permissions } from "@mlrb/core/ports/permissions";
import { globFolder, isGlob } from "@mlrb/core/text/glob";
import { packageFolders } from "@mlrb/kit/files/package-folders";
import { paidAnswers } from "../attempts/attempt-purse.ts";
import type { Bound } from "../decide/bind-inputs.ts";
import { wholeFolder } from "../digests/file-digest-memory.ts";
import { stageSources } from "../digests/stage-source-files.ts";
import { compiledFolder } from "../process/compiled-code.ts";
import { environmentPython } from "../process/environments.ts";
import { ifReadable } from "../store/if-readable.ts";
import type { Workspace } from "../store/workspace.ts";
import { hubFolder } from "./hub-folder.ts";
import type { Recorded } from "./read-recorder.ts";

export type HeldAt = { workspace: Workspace; work: string };

const guards = {
  script: fileURLToPath(new URL("./stage-guard.ts", import.meta.url)),
  python: fileURLToPath(new URL("../process/python-guard", import.meta.url)),
};

/** The files of the harness that a traceback may read. */
export const harnessFiles = [
  guards.python,
  guards.script,
  ...[
    "../../../package.json",
    "../process/fork_job.py",
    "../process/fork_server.py",
    "../process/spawner.py",
  ].map((name) => fileURLToPath(new URL(name, import.meta.url))),
];

/** Undefined where the script is not restricted. */
export function stagePermissions(instance: Instance, bound: Bound, at: HeldAt): Permissions | undefined {
  const { action, stage } = instance;
  if (action.run.kind === "command" || stage.untrusted || stage.durable) return undefined;
  if (stage.name === environmentStage) return undefined;
  const declared = { ...declaredPaths(instance, bound, at), guard: guards[action.run.kind] };
  if (action.run.kind === "python") return declared;
  return { ...declared, reads: apart(declared.reads), writes: apart(declared.writes) };
}

export const recorder = fileURLToPath(new URL("./read-recorder.ts", import.meta.url));

/** For a script that is not restricted: the reads to record. The harness and its state are not part of a key. */
export function recordedReads(instance: Instance, bound: Bound, at: HeldAt): Recorded | undefined {
  const { action, stage } = instance;
  if (action.run.kind !== "script" || !(stage.untrusted || stage.durable)) return undefined;
  const { reads, root, refusals } = declaredPaths(instance, bound, at);
  const own = [join(root, "runners"), at.workspace.state.state, at.work];
  return { root, reads, apart: bothNames(own), refusals };
}

/** The declared paths, of commands too. */
export function declaredPaths(
  instance: Instance,
  bound: Bound,
  { workspace, work }: HeldAt,
): Omit<Permissions, "guard"> {
  const { repository: root, state, pythonFolders } = workspace;
  const { action, execution } = instance;
  const { kind } = action.run;
  const beside = foldersBeside(instance, bound, workspace);
  const sources = stageSources(bound);
  const patterns = action.files.map((pattern) => ({ pattern, folder: wholeFolder(pattern) }));
  const folders = patterns.flatMap(({ folder }) => folder ?? []);
  const compiled = join(state.memory, "node");
  const programs = execution.programs === true;
  const onPath = (action.env.PATH ?? process.env.PATH ?? "").split(delimiter);
  const reads = [
    ...sources.map((path) => join(root, path)),
    ...folders.map((path) => join(root, path)),
    ...(kind === "script"
      ? [...packageFiles(root, Object.keys(bound.codeFiles)), compiled, compiledFolder(state)]
      : []),
    join(dirname(guards.script), "../../package.json"),
    ...(kind === "python" || programs ? systemFolders() : []),
    ...(programs ? onPath.filter((folder) => folder.startsWith("/") && existsSync(folder)) : []),
    ...(kind === "python" ? harnessFiles : []),
    work,
    ...beside.reads,
    ...beside.writes,
  ];
  const lists = [
    ...sources.filter((path) => path.endsWith(".py")).map((path) => dirname(join(root, path))),
    ...patterns.flatMap(({ pattern, folder }) =>
      folder === undefined && isGlob(pattern) ? [join(root, globFolder(pattern))] : [],
    ),
    ...(kind === "python" ? [...pythonFolders.map((folder) => join(root, folder)), root] : []),
  ];
  return {
    reads: outermost(bothNames(reads)),
    writes: outermost(bothNames([work, ...beside.writes, ...(kind === "script" ? [compiled] : [])])),
    lists: bothNames(lists),
    network: execution.network === "full" || instance.uses !== undefined,
    programs,
    root,
    refusals: join(work, "refusals.jsonl"),
  };
}

/** The folders that an instance reads and writes, other than the repository and its work folder. */
export function foldersBeside(
  instance: Instance,
  { environment }: Bound,
  workspace: Workspace,
): { reads: string[]; writes: string[] } {
  const hub = hubFolder(instance, workspace);
  const paid = paidAnswers(instance, workspace) ?? { reads: [], writes: [] };
  const writes = [...(hub === undefined ? [] : [hub]), ...paid.writes];
  if (!environment) return { reads: paid.reads, writes };
  if (instance.stage.name === environmentStage) return { reads: [], writes: [dirname(environment.path)] };
  const interpreter = interpreterOf(environment.path);
  const reads = [environment.path, ...(interpreter === undefined ? [] : [interpreter]), ...paid.reads];
  return { reads, writes };
}

/** The folder of the interpreter behind a virtual environment: the environment needs the interpreter to run. */
export function interpreterOf(path: string): string | undefined {
  // without one, starting the program reports the error
  const python = ifReadable(() => realpathSync(environmentPython(path)));
  const folder = python === undefined ? "/usr" : dirname(dirname(python));
  return folder === "/usr" ? undefined : folder;
}

/**
 * The files that Node reads to find packages: package.json above each source, and node_modules. node_modules is
 * readable as a whole: the lock file covers imported packages, and the package manager chooses their place.
 */
function packageFiles(root: string, sources: string[]): string[] {
  const folders = new Set<string>([root]);
  for (const source of sources) {
    for (let folder = dirname(join(root, source)); folder.length > root.length; folder = dirname(folder))
      folders.add(folder);
  }
  return [
    ...[...folders].map((folder) => join(folder, "package.json")),
    ...[...folders].map((folder) => join(folder, "node_modules")),
    ...packageFolders(root).stores,
  ].filter((path) => existsSync(path));
}

/** The folders of the machine: programs, libraries and devices. */
export function systemFolders(): string[] {
  const known = "/usr /bin /sbin /lib /lib32 /lib64 /etc /proc /sys /dev /opt /run /nix /snap".split(" ");
  return [...known, dirname(process.execPath)].filter((path) => existsSync(path));
}

/** Each path by its own name and by its real name, since permissions compare names. */
function bothNames(paths: string[]): string[] {
  return [...new Set(paths.flatMap((path) => [path, realOf(path)]))];
}

/**
 * Removes paths inside another path: given a folder and a file in it, Node would forget the permission to read the
 * folder.
 */
function outermost(paths: string[]): string[] {
  const all = new Set(paths);
  const isInside = (path: string) => {
    for (let above = dirname(path); above !== dirname(above); above = dirname(above))
      if (all.has(above)) return true;
    return false;
  };
  return paths.filter((path) => !isInside(path));
}

/**
 * Node (26.10) forgets the permission for a folder where another permitted name continues the folder's name
 * (`data/` and `data.json`). Such neighbours become one pattern, `data*`: wider, and never too narrow.
 */
function apart(paths: string[]): string[] {
  const kept: string[] = [];
  for (const path of [...paths].sort()) {
    const before = kept.at(-1);
    if (before?.endsWith("*") && path.startsWith(before.slice(0, -1))) continue;
    if (
      before !== undefined &&
      path.startsWith(before) &&
      statSync(before, { throwIfNoEntry: false })?.isDirectory()
    )
      kept[kept.length - 1] = `${before}*`;
    else kept.push(path);
  }
  return kept;
}

/** The path itself where it is missing or not yet created. */
export function realOf(path: string): string {
  return ifReadable(() => realpathSync.native(path)) ?? path; // native: a tenth of the time
}

/** The path of a script's read, from the repository's root; undefined for a path that `files:` cannot name. */
export function insideRepository(
  path: string,
  { repository, state }: Pick<Workspace, "repository" | "state">,
): string | undefined {
  for (const root of new Set([repository, realOf(repository)])) {
    const inside = relative(root, join(path.startsWith("/") ? "" : root, path));
    const own = relative(root, state.state);
    if (inside.startsWith("..") || inside === own || inside.startsWith(`${own}/`)) continue;
    return inside;
  }
  return undefined;
}
