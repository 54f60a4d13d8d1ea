// Watches the repository's files that a stage instance runs from, and reports whether they changed during the run.
// The files are the script with all imports, Python imports from the repository, and declared files.
import { environmentStage, type Instance } from "@mlrb/core/plan/plan";
import type { Bound } from "../decide/bind-inputs.ts";
import { filesMatching, type Look, type Looks, lookAt } from "../decide/consulted-files.ts";
import { imageOf } from "../decide/image-identity.ts";
import { watchFolders } from "../stage/folder-watch.ts";
import type { Workspace } from "../store/workspace.ts";
import { declared } from "./file-digest-memory.ts";

/** Paths from the repository's root, in code-unit order. */
export function stageSources({ codeFiles, parts }: Pick<Bound, "codeFiles" | "parts">): string[] {
  const lock = parts.code.packages === undefined ? [] : ["pnpm-lock.yaml"];
  const declared = Object.keys(parts.files).filter((path) => !path.endsWith("/"));
  return [...new Set([...Object.keys(codeFiles), ...lock, ...declared])].sort();
}

/**
 * `changed`: `path` differs from the key or was touched since. `came-or-went`: `path` appeared or disappeared in a
 * declared folder.
 */
export type SourceChange = { kind: "changed" | "came-or-went"; path: string };

export type SourceWatch = {
  /** Undefined if nothing changed. */
  changed(): Promise<SourceChange | undefined>;
  close(): void;
};

export function sourceChangeText({ kind, path }: SourceChange): string {
  return kind === "changed"
    ? `${path} changed while it ran; run again`
    : `${path} appeared or disappeared while the stage ran; run again, and have the stage write its own files below TMPDIR`;
}

/**
 * Must be called before the stage starts. An edit that is undone during the run leaves the same bytes and another
 * ctime. Only the watch on its folder detects a file that appeared and disappeared. In both cases the result belongs
 * to no key.
 */
export function watchSources(instance: Instance, bound: Bound, workspace: Workspace): SourceWatch {
  const { repository } = workspace;
  const builds = instance.stage.name === environmentStage ? [bound.environment!.lock] : [];
  const then = new Map<string, Look | undefined>(
    [...stageSources(bound), ...builds].map((path) => [path, lookAt(repository, path)]),
  );
  const folders = watchFolders(repository, instance.action.files.map(declared));
  return {
    async changed() {
      const now = new Map([...then.keys()].map((path) => [path, lookAt(repository, path)]));
      for (const [path, look] of then)
        if (now.get(path)?.stat !== look?.stat) return { kind: "changed", path };
      const changed = await changedContent(instance, bound, workspace, now);
      if (changed !== undefined) return { kind: "changed", path: changed };
      const path = await folders.changed();
      return path === undefined ? undefined : { kind: "came-or-went", path };
    },
    close: folders.close,
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
  const then = { ...files, ...python };
  const now = {
    ...digests.ofDeclared(action.files, looks),
    ...digests.ofPatterns(Object.keys(python), looks),
  };
  return Object.keys({ ...then, ...now }).find((path) => now[path] !== then[path]);
}

/**
 * Returns the first file for the agent that differs from the key. The attempt may have waited long for its resources,
 * and nothing has been paid yet.
 */
export function changedHandedOver(
  instance: Instance,
  { parts }: Pick<Bound, "parts">,
  workspace: Pick<Workspace, "digests">,
): string | undefined {
  const now = workspace.digests.ofHandedOver(instance.action.files);
  const changed = Object.keys({ ...parts.files, ...now }).find((path) => now[path] !== parts.files[path]);
  if (changed !== undefined) return changed;
  return imageOf(instance, workspace).image === parts.image ? undefined : instance.execution.image;
}
