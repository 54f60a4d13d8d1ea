// Watches the repository's files that a stage instance runs from, and reports whether they changed during the run.
// The files are the script with all imports, Python imports from the repository, and declared files.
import { join } from "node:path";
import { environmentStage, type Instance } from "@mlrb/core/plan/plan";
import type { Bound } from "../decide/bind-inputs.ts";
import { filesMatching, type Looks, lookAt } from "../decide/consulted-files.ts";
import { imageOf } from "../decide/image-identity.ts";
import { environmentKey } from "../process/environments.ts";
import { watchFolders } from "../stage/folder-watch.ts";
import { watchWrites } from "../stage/write-watch.ts";
import type { Workspace } from "../store/workspace.ts";
import { declared } from "./file-digest-memory.ts";

/** Paths from the repository's root, in code-unit order. */
export function stageSources({ codeFiles, parts }: Pick<Bound, "codeFiles" | "parts">): string[] {
  const lock = parts.code.packages === undefined ? [] : ["pnpm-lock.yaml"];
  const declared = Object.keys(parts.files).filter((path) => !path.endsWith("/"));
  return [...new Set([...Object.keys(codeFiles), ...lock, ...declared])].sort();
}

/**
 * `changed`: `path` differs from the key. `undone`: it has its content again, or still, but a write or a
 * replacement cannot be excluded. `came-or-went`: it appeared and disappeared in a declared folder.
 */
export type SourceChange = { kind: "changed" | "undone" | "came-or-went"; path: string };

/** What changed since the watch began; undefined if nothing did. */
export type SourceWatch = () => Promise<SourceChange | undefined>;

export function sourceChangeText({ kind, path }: SourceChange): string {
  return kind === "came-or-went"
    ? `${path} appeared or disappeared while the stage ran; run again, and have the stage write its own files below TMPDIR`
    : `${path} changed while it ran; run again`;
}

/**
 * Must be awaited before the stage starts. An edit that is undone during the run leaves the same bytes and another
 * ctime, and so does a new hard link, owner or mode: only a watch on writes tells them apart. Only the watch on
 * its folder detects a file that appeared and disappeared. After an edit the result belongs to no key.
 */
export async function watchSources(
  instance: Instance,
  bound: Bound,
  workspace: Workspace,
): Promise<SourceWatch> {
  const { repository } = workspace;
  const lock = instance.stage.name === environmentStage ? bound.environment!.lock : undefined;
  const paths = [...stageSources(bound), ...(lock === undefined ? [] : [lock])];
  const eventsSince = await watchWrites(paths.map((path) => join(repository, path)));
  const cameOrWent = await watchFolders(repository, instance.action.files.map(declared));
  const then = new Map(paths.map((path) => [path, lookAt(repository, path)]));
  return async () => {
    const now = new Map(paths.map((path) => [path, lookAt(repository, path)]));
    const changed = await changedContent(instance, bound, workspace, now);
    if (changed !== undefined) return { kind: "changed", path: changed };
    if (lock !== undefined && environmentKey(lock, workspace) !== bound.key)
      return { kind: "changed", path: lock };
    for (const [path, look] of then) {
      if (now.get(path)?.stat === look?.stat) continue;
      const events = await eventsSince(join(repository, path));
      if (events?.length !== 0) return { kind: "undone", path };
    }
    const path = await cameOrWent();
    return path === undefined ? undefined : { kind: "came-or-went", path };
  };
}

/**
 * Returns the first file whose content differs from the key: changed before the watch began, or new to a pattern.
 * `looks`: current stats, where known.
 */
export async function changedContent(
  { action }: Instance,
  bound: Bound,
  { repository, codes, digests }: Workspace,
  looks?: Looks,
): Promise<string | undefined> {
  const matching = action.files.flatMap((pattern) => filesMatching(repository, declared(pattern)));
  const added = matching.find((path) => !(path in bound.parts.files));
  if (added !== undefined) return added;
  if (action.run.kind === "script" && !(await codes.stillIs(action.run.file))) return action.run.file;
  const { files, code } = bound.parts;
  const python = action.run.kind === "python" ? code : {};
  return (
    differing(files, digests.ofDeclared(action.files, looks)) ??
    differing(python, digests.ofPatterns(Object.keys(python), looks))
  );
}

function differing(then: Record<string, string>, now: Record<string, string>): string | undefined {
  return Object.keys({ ...then, ...now }).find((path) => now[path] !== then[path]);
}

/**
 * Returns the first file for the agent that differs from the key. The attempt may have waited long for its
 * resources, and nothing has been paid yet.
 */
export function changedHandedOver(
  instance: Instance,
  { parts }: Pick<Bound, "parts">,
  workspace: Pick<Workspace, "digests">,
): string | undefined {
  const changed = differing(parts.files, workspace.digests.ofHandedOver(instance.action.files));
  if (changed !== undefined) return changed;
  return imageOf(instance, workspace).image === parts.image ? undefined : instance.execution.image;
}
