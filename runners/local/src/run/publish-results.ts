// Publishes the results of a pipeline under results/. The store holds the truth: files that differ are written
// again, and files of an older report that the newer one lacks are removed.
import { hash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import type { Plan } from "@mlrb/core/plan/plan";
import { besideReport, reportFile } from "@mlrb/core/spec/check-published";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";
import { processName } from "@mlrb/kit/processes/process-name";
import { hashFile } from "../digests/hash-file.ts";
import { beginWork, endWork, type WorkFolder } from "../stage/work-folders.ts";
import { ifReadable } from "../store/if-readable.ts";
import type { Workspace } from "../store/workspace.ts";
import { type PublishedFile, withoutClashes } from "./published-twice.ts";
import type { Result } from "./result.ts";

/** A name in a folder has at most 255 bytes on common file systems. */
const nameMax = 200;

/** The folder that a plan's results go to, relative to the root. A long selection is shortened, and named by its digest. */
export function resultsFolder(plan: Pick<Plan, "pipeline" | "profile" | "selection">): string {
  const { pipeline, profile, selection } = plan;
  const whole = selection === "" ? profile : `${profile}+${selection}`;
  if (Buffer.byteLength(whole) <= nameMax) return join("results", pipeline, whole);
  const digest = hash("sha256", whole).slice(0, 16);
  const begin = [...whole].slice(0, 60).join("");
  return join("results", pipeline, `${begin}+${digest}`);
}

/**
 * The outputs of publishing stages: digests by path from the results folder, and a problem for each file that
 * cannot be published.
 */
export function publishedFiles(
  plan: Plan,
  results: (Result | undefined)[],
  { store }: Pick<Workspace, "store">,
): { files: Map<string, string>; problems: Diagnostic[] } {
  const published: PublishedFile[] = [];
  for (const { index, stage } of plan.instances) {
    const result = results[index];
    if (!stage.publishes || !result || Object.keys(result.outputs).length === 0) continue;
    for (const { name, file } of stage.gives) {
      const { kind, digest } = result.outputs[name]!;
      // a folder's files lie directly under results; a file under its own name
      const inside = kind === "file" ? [{ path: file, digest }] : store.filesOf(digest);
      for (const one of inside) published.push({ ...one, by: `${stage.name}.${name}` });
    }
  }
  const hasPage = published.some(({ path }) => path === reportFile);
  const by = "the program itself, next to a report";
  if (hasPage) published.push(...besideReport.map((path) => ({ path, digest: "", by })));
  const { files, problems } = withoutClashes(published);
  if (hasPage) for (const one of besideReport) files.delete(one);
  return { files, problems };
}

/** Returns the folder and its files, as absolute paths; undefined when no publishing stage succeeded. */
export function publishResults(
  plan: Plan,
  results: (Result | undefined)[],
  workspace: Workspace,
): { folder: string; files: string[]; problems: Diagnostic[] } | undefined {
  const { files, problems } = publishedFiles(plan, results, workspace);
  if (files.size + problems.length === 0) return undefined;
  const where = resultsFolder(plan);
  const folder = join(workspace.state.root, where);
  const memory = join(workspace.state.memory, "published.json");
  const published = readPublished(memory);
  const before = new Set(published[where]);
  const paths = [...files.keys()].sort();
  const remember = (all: string[]) => writeWhole(memory, canonicalJson({ ...published, [where]: all }));
  // first remember all files: a later run also removes those of a killed run
  if (paths.some((path) => !before.has(path))) remember([...new Set([...before, ...paths])].sort());
  mkdirSync(folder, { recursive: true });
  for (const old of before) if (!files.has(old)) takeAway(folder, old);
  let work: WorkFolder | undefined;
  try {
    for (const [path, digest] of files) {
      const target = join(folder, path);
      if (existsSync(target) && hashFile(target) === digest) continue;
      mkdirSync(dirname(target), { recursive: true });
      // not next to the target: users see that folder, and a kill would leave the file there for good
      work ??= beginWork(workspace.state.work, `publish-${Date.now()}-${processName}`);
      const temporary = join(work.path, "file");
      workspace.store.restore({ kind: "file", digest }, temporary);
      moveFile(temporary, target);
    }
  } finally {
    if (work) endWork(work);
  }
  if ([...before].some((path) => !files.has(path))) remember(paths);
  return { folder, files: paths.map((path) => join(folder, path)), problems };
}

/** Removes a file that an older report left, and the folders that become empty. */
function takeAway(folder: string, path: string): void {
  rmSync(join(folder, path), { force: true });
  try {
    for (let above = dirname(path); above !== "."; above = dirname(above)) rmdirSync(join(folder, above));
  } catch {
    // the folder holds other files
  }
}

/** Copies across disks, since `results/` may be a link to another disk. */
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

/** Paths by results folder. A list that is damaged or has paths outside its folder counts as never published. */
function readPublished(memory: string): Record<string, string[]> {
  const read = Object.entries(Object(ifReadable(() => JSON.parse(readFileSync(memory, "utf8")))));
  return Object.fromEntries(read.filter((one): one is [string, string[]] => isPathList(one[1])));
}

function isPathList(value: unknown): boolean {
  const isInside = (path: unknown) =>
    typeof path === "string" && !isAbsolute(path) && !path.split("/").includes("..");
  return Array.isArray(value) && value.every(isInside);
}
