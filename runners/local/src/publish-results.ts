// Lays a pipeline's results out under results/ for people. The store holds the truth: what differs
// there is written again, and what an older report left and the newer has not is taken away.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Plan } from "@mlrb/core/plan";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";
import type { Result } from "./result.ts";
import { type Artifact, hashFile, type Store } from "./store.ts";
import type { Workspace } from "./workspace.ts";

/** The folder that a plan's results go to, relative to the root. */
export function resultsFolder(plan: Plan): string {
  const profile = plan.selection === "" ? plan.profile : `${plan.profile}+${plan.selection}`;
  return join("results", plan.pipeline, profile);
}

/** Gives the folder and its files, absolute, or undefined when no publishing stage succeeded. */
export function publishResults(
  plan: Plan,
  results: (Result | undefined)[],
  workspace: Workspace,
): { folder: string; files: string[] } | undefined {
  const files = new Map<string, string>(); // path → digest
  for (const { index, stage } of plan.instances) {
    const result = results[index];
    if (!stage.publishes || !result || Object.keys(result.outputs).length === 0) continue;
    for (const { name, file } of stage.gives)
      listFiles(result.outputs[name]!, { file, store: workspace.store, into: files });
  }
  if (files.size === 0) return undefined;
  const folder = join(workspace.state.root, resultsFolder(plan));
  const memory = join(workspace.state.memory, "published.json");
  const published = readPublished(memory);
  mkdirSync(folder, { recursive: true });
  for (const old of published[folder] ?? []) if (!files.has(old)) rmSync(join(folder, old), { force: true });
  for (const [path, digest] of files) {
    const target = join(folder, path);
    if (existsSync(target) && hashFile(target) === digest) continue;
    mkdirSync(dirname(target), { recursive: true });
    const temporary = `${target}.${process.pid}.tmp`;
    try {
      workspace.store.restore({ kind: "file", digest }, temporary);
      renameSync(temporary, target);
    } finally {
      rmSync(temporary, { force: true });
    }
  }
  const paths = [...files.keys()].sort();
  if (canonicalJson(published[folder] ?? []) !== canonicalJson(paths)) {
    writeWhole(memory, canonicalJson({ ...published, [folder]: paths }));
  }
  return { folder, files: paths.map((path) => join(folder, path)) };
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
