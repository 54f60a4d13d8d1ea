// Lays a pipeline's results out under results/ for people. The store holds the truth: what differs
// there is written again, and what an older report left and the newer has not is taken away.
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Plan } from "@mlrb/core/plan";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";
import { processName } from "@mlrb/kit/process-name";
import { hashFile } from "./hash-file.ts";
import type { Result } from "./result.ts";
import type { Artifact, Store } from "./store.ts";
import { beginWork, endWork, type WorkFolder } from "./work-folders.ts";
import type { Workspace } from "./workspace.ts";

/** The folder that a plan's results go to, relative to the root. */
export function resultsFolder(plan: Plan): string {
  const profile = plan.selection === "" ? plan.profile : `${plan.profile}+${plan.selection}`;
  return join("results", plan.pipeline, profile);
}

/** What publishing stages gave: digests by path from the results' folder. */
export function publishedFiles(
  plan: Plan,
  results: (Result | undefined)[],
  { store }: Pick<Workspace, "store">,
): Map<string, string> {
  const files = new Map<string, string>();
  for (const { index, stage } of plan.instances) {
    const result = results[index];
    if (!stage.publishes || !result || Object.keys(result.outputs).length === 0) continue;
    for (const { name, file } of stage.gives) listFiles(result.outputs[name]!, { file, store, into: files });
  }
  return files;
}

/** Gives the folder and its files, absolute, or undefined when no publishing stage succeeded. */
export function publishResults(
  plan: Plan,
  results: (Result | undefined)[],
  workspace: Workspace,
): { folder: string; files: string[] } | undefined {
  const files = publishedFiles(plan, results, workspace);
  if (files.size === 0) return undefined;
  const where = resultsFolder(plan);
  const folder = join(workspace.state.root, where);
  const memory = join(workspace.state.memory, "published.json");
  const published = readPublished(memory);
  const before = new Set(published[where]);
  const paths = [...files.keys()].sort();
  const remember = (all: string[]) => writeWhole(memory, canonicalJson({ ...published, [where]: all }));
  // first what may lie there from now on: a killed run's files are taken away by a later one, too
  if (paths.some((path) => !before.has(path))) remember([...new Set([...before, ...paths])].sort());
  mkdirSync(folder, { recursive: true });
  for (const old of before) if (!files.has(old)) takeAway(folder, old);
  let work: WorkFolder | undefined;
  try {
    for (const [path, digest] of files) {
      const target = join(folder, path);
      if (existsSync(target) && hashFile(target) === digest) continue;
      mkdirSync(dirname(target), { recursive: true });
      // not beside the target: people look there, and a kill would leave it there for good
      work ??= beginWork(workspace.state.work, `publish-${Date.now()}-${processName}`);
      const temporary = join(work.path, "file");
      workspace.store.restore({ kind: "file", digest }, temporary);
      moveFile(temporary, target);
    }
  } finally {
    if (work) endWork(work);
  }
  if ([...before].some((path) => !files.has(path))) remember(paths);
  return { folder, files: paths.map((path) => join(folder, path)) };
}

/** A file that an older report left, and the folders that it leaves empty. */
function takeAway(folder: string, path: string): void {
  rmSync(join(folder, path), { force: true });
  try {
    for (let above = dirname(path); above !== "."; above = dirname(above)) rmdirSync(join(folder, above));
  } catch {
    // something else is in it
  }
}

/** `results/` may be a link to another disk. */
function moveFile(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    const temporary = `${to}.${processName}.tmp`;
    copyFileSync(from, temporary);
    renameSync(temporary, to);
    rmSync(from);
  }
}

/** A folder's files stand directly under results; a file under its own name. */
function listFiles(artifact: Artifact, at: { file: string; store: Store; into: Map<string, string> }): void {
  if (artifact.kind === "file") at.into.set(at.file, artifact.digest);
  else for (const { path, digest } of at.store.filesOf(artifact.digest)) at.into.set(path, digest);
}

function readPublished(memory: string): Record<string, string[]> {
  try {
    return (JSON.parse(readFileSync(memory, "utf8")) as Record<string, string[]> | null) ?? {};
  } catch {
    return {};
  }
}
