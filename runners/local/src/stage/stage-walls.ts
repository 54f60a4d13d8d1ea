// The walls of a stage that opens what untrusted code made: which paths it sees, which it writes, its user and its
// limits. The paths are those that its pipeline declares, as for its permissions; here the kernel holds them.
import { statfsSync, statSync, writeFileSync } from "node:fs";
import { totalmem } from "node:os";
import { dirname, join } from "node:path";
import type { Instance } from "@mlrb/core/plan/plan";
import { runsHere } from "@mlrb/core/plan/runs-here";
import type { StageWalls } from "@mlrb/core/ports/executor";
import { filesIn } from "@mlrb/kit/files/files-in";
import { sandboxUser } from "@mlrb/kit/processes/sandbox-user";
import type { Bound } from "../decide/bind-inputs.ts";
import { commandPaths, foldersInHomes } from "./declared-programs.ts";
import { declaredPaths, type HeldAt, harnessFiles, systemFolders } from "./stage-permissions.ts";

/** The default process limit: far above the needs of an honest program. */
export const processesMax = 4096;

/** The default disk limit: large, but with room left for other programs. */
export function diskMax(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return Math.min(200 * 2 ** 30, Math.floor(0.8 * bavail * bsize));
}

/** Undefined for a stage that opens no such files. Its inputs are in place in `work`. */
export function stageWalls(
  instance: Instance,
  bound: Bound,
  { token, mayRunWeakly, ...at }: HeldAt & { token: string; mayRunWeakly: (instance: Instance) => boolean },
): StageWalls | undefined {
  const { stage, execution, action } = instance;
  if (stage.opens === undefined) return undefined;
  const { work } = at;
  const { reads, refusals } = declaredPaths(instance, bound, at);
  const path = action.env.PATH ?? process.env.PATH ?? "";
  const hidden = new Set([...systemFolders(), ...foldersInHomes(path)]);
  const compiled = join(at.workspace.state.memory, "node");
  writeFileSync(refusals, "");
  const user = process.getuid?.() === 0 ? sandboxUser(token) : undefined;
  return {
    ...(user && { user }),
    reads: [
      ...reads.filter((path) => !hidden.has(path) && path !== compiled),
      ...[...harnessFiles, dirname(process.execPath)],
      ...commandPaths(action.env, { path }),
    ],
    required: !mayRunWeakly(instance),
    writes: [join(work, "out"), join(work, "tmp"), refusals],
    limits: {
      memoryBytes: execution.limits.memoryBytes ?? memoryFor(instance, work),
      processes: execution.limits.processes ?? processesMax,
      fileBytes: execution.limits.diskBytes ?? diskMax(work),
    },
  };
}

/**
 * The memory limit of a stage that declares none, in bytes: what it books, at least 2 GiB, and twice the size of
 * its inputs, since loading may convert weights. On this machine never more than nine tenths of its memory.
 */
export function memoryFor(instance: Pick<Instance, "execution">, work: string): number {
  const booked = instance.execution.resources.memoryBytes;
  const wanted = Math.max(booked, 2 * 2 ** 30) + 2 * sizeOf(join(work, "in"));
  return runsHere(instance) ? Math.min(wanted, Math.floor(0.9 * totalmem())) : wanted;
}

function sizeOf(folder: string): number {
  return filesIn(folder).reduce((total, name) => total + statSync(join(folder, name)).size, 0);
}
