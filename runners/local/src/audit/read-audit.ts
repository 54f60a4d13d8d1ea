// `run --audit`: finds undeclared reads of a stage by strace. strace sees reads that guards inside a process miss:
// those of native code, of programs that a stage starts, and of `command:` stages. The audit finds mistakes and
// forbids nothing.
import { existsSync, readFileSync } from "node:fs";
import { delimiter, dirname } from "node:path";
import type { Instance } from "@mlrb/core/plan/plan";
import { refusalTexts } from "@mlrb/core/ports/permissions";
import type { Bound } from "../decide/bind-inputs.ts";
import { declarer } from "../stage/refusals.ts";
import {
  declaredPaths,
  harnessFiles,
  insideRepository,
  realOf,
  systemFolders,
} from "../stage/stage-permissions.ts";
import type { Workspace } from "../store/workspace.ts";
import { type Audited, type Opened, openedIn } from "./read-trace.ts";

/** Finds the undeclared reads of a stage instance. `work` still holds its trace. */
export function auditStage(
  instance: Instance,
  bound: Bound,
  { workspace, work, trace }: { workspace: Workspace; work: string; trace: string },
): Audited {
  const stage = instance.id;
  if (!existsSync(trace)) return { stage, untraced: "it was not started, or strace could not trace it" };
  const { reads, lists, root } = declaredPaths(instance, bound, { workspace, work });
  const system = [...reads, ...harnessFiles, ...systemFolders(), ...programHomes(root)];
  const allowed = new Set(system.flatMap((path) => [path, realOf(path)]));
  const listed = new Set([...lists, ...lists.map(realOf)]);
  const covered = ({ kind, path }: Opened) => {
    if (kind === "list" && listed.has(path)) return true;
    for (let above = path; above !== dirname(above); above = dirname(above))
      if (allowed.has(above)) return !hides(above, path);
    return false;
  };
  // a system folder may contain the repository, whose files are not the system's
  const hides = (above: string, path: string) => {
    const real = realOf(root);
    return path.startsWith(`${real}/`) && real.startsWith(`${above}/`);
  };
  const opened = openedIn(readFileSync(trace, "utf8")).filter((one) => !covered(one));
  const refusals = opened.map(({ kind, path }) => ({ kind, resource: path }));
  const undeclared = refusalTexts(refusals, declarer(instance), (path) => insideRepository(path, workspace));
  return { stage, undeclared };
}

/** Where the programs on the PATH are installed: they read libraries next to their `bin`. */
function programHomes(root: string): string[] {
  const folders = (process.env.PATH ?? "")
    .split(delimiter)
    .filter((folder) => /\/(bin|sbin|shims)$/.test(folder));
  const homes = [...folders.map(dirname), dirname(dirname(realOf(process.execPath)))];
  return homes.filter(
    (home) => home !== "/" && home !== process.env.HOME && !`${realOf(root)}/`.startsWith(`${home}/`),
  );
}
