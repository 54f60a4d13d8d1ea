// Ends every process of a sandbox, also those in sessions of their own. On Linux a process belongs to the sandbox
// by the token in its environment, by a known parent, or by a working directory in the sandbox's folder. All are
// stopped before any is killed, so that none can spawn meanwhile. A program that clears its environment, leaves
// the folder and outlives its parent escapes: plain sandboxes are for trusted programs, others have a pid
// namespace. Other systems have no /proc: only process groups are ended.
import { readFileSync, readlinkSync } from "node:fs";
import { uptime } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import {
  candidates,
  type FindProcesses,
  fieldsOf,
  followProcesses,
  otherThreads,
  quiet,
  textOf,
} from "./process-table.ts";

export type Known = {
  token: string;
  root: string;
  groups: number[];
  /** The start in clock ticks since boot, from `ticksNow`: none of the processes is older. */
  since?: number;
  /** The pid of the first process: the system counts upwards, so the others have greater pids. */
  first?: number;
};

/** Now, in clock ticks since boot, the unit of processes' start times; 0 without /proc. */
export function ticksNow(): number {
  return process.platform === "linux" ? Math.floor(uptime() * 100) - 1 : 0;
}

/** Kills everything known. Throws if something still runs after ten seconds: then files may still change. */
export async function endProcesses(known: Known): Promise<void> {
  if (process.platform !== "linux") {
    for (const group of known.groups) send(-group, "SIGKILL");
    return;
  }
  let left: Set<number> | undefined;
  for (let round = 0; round < 200; round++) {
    left = await stopProcesses(known);
    if (left?.size === 0) {
      known.groups.length = 0; // the system may reuse their numbers from now on
      return;
    }
    for (const pid of left ?? []) send(pid, "SIGKILL");
    await sleep(Math.min(5 + round * 5, 100));
  }
  const which = left ? [...left].join(", ") : "they start others faster than they can be looked at";
  throw new Error(`processes of the sandbox would not end: ${which}; end them by hand and run again`);
}

/** Stops (SIGSTOP) everything known and returns its pids; undefined if something may have escaped. */
async function stopProcesses(known: Known): Promise<Set<number> | undefined> {
  const stopped = new Set<number>();
  const find = (first: number, before?: ReadonlySet<number>) => findProcesses({ ...known, first }, before);
  for (let round = 0; round < 100; round++) {
    const before = stopped.size;
    // a group is stopped at once: none of its processes can start another meanwhile
    if (round === 0) for (const group of known.groups) send(-group, "SIGSTOP");
    const stop = (pids: number[]) => {
      for (const pid of pids) if (!stopped.has(pid)) send(pid, "SIGSTOP");
      for (const pid of pids) stopped.add(pid);
    };
    const whole = followProcesses(find, stop, firstOf(known));
    if (stopped.size === before) return whole || before > 0 ? stopped : undefined;
    await sleep(round < 10 ? 1 : 20);
  }
  return stopped;
}

/** The smallest possible pid, as long as the pid counter cannot have wrapped around. */
function firstOf({ first = 0, since = 0 }: Known): number {
  return ticksNow() - since < 200 ? first : 0;
}

/** The memory of everything known in bytes, shared pages counted once; 0 without /proc. */
export function memoryHeld(known: Known): number {
  let total = 0;
  for (const pid of findProcesses({ ...known, first: firstOf(known) })) {
    const text = textOf(`/proc/${pid}/smaps_rollup`);
    total += Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024;
  }
  return total;
}

/** Living processes of the sandbox and the children of those in `before`, parents first; never this process. */
export function findProcesses(
  { token, root, groups, since = 0, first = 0 }: Known,
  before: ReadonlySet<number> = new Set(),
): number[] {
  if (process.platform !== "linux") return [];
  const marker = Buffer.from(`MLRB_TOKEN=${token}`);
  const parents = new Map<number, number>();
  const found = new Set<number>();
  for (const pid of candidates(first)) {
    if (pid === process.pid) continue;
    const status = statusOf(pid);
    if (!status || status.dead || status.started < since) continue;
    parents.set(pid, status.parent);
    if (groups.includes(status.group) || marked(pid, marker) || worksIn(pid, root)) found.add(pid);
  }
  return withChildren(found, parents, before);
}

/** The found ones, their children and those of `before`, and theirs, in ascending order. */
function withChildren(
  found: Set<number>,
  parents: ReadonlyMap<number, number>,
  before: ReadonlySet<number>,
): number[] {
  for (let size = -1; size !== found.size; ) {
    size = found.size;
    for (const [pid, parent] of parents) if (found.has(parent) || before.has(parent)) found.add(pid);
  }
  return [...found].sort((a, b) => a - b);
}

/**
 * Of what `find` finds: the processes with this variable in their environment, and what descends from them. One that
 * clears its environment and outlives its parent is not found.
 */
export function findMarked(
  find: FindProcesses,
  { name, value }: { name: string; value: string },
): FindProcesses {
  const marker = Buffer.from(`${name}=${value}\0`);
  return (first, before = new Set()) => {
    const all = find(first, before);
    const parents = new Map(all.map((pid) => [pid, statusOf(pid)?.parent ?? 0]));
    return withChildren(new Set(all.filter((pid) => marked(pid, marker))), parents, before);
  };
}

function statusOf(
  pid: number,
): { parent: number; group: number; started: number; dead: boolean } | undefined {
  const fields = fieldsOf(`/proc/${pid}/stat`);
  if (!fields) return undefined;
  return {
    dead: fields[0] === "X" || (fields[0] === "Z" && !otherThreads(pid)),
    parent: Number(fields[1]),
    group: Number(fields[2]),
    started: Number(fields[19]),
  };
}

function marked(pid: number, marker: Buffer): boolean {
  const environment = quiet(() => readFileSync(`/proc/${pid}/environ`));
  if (!environment) return false;
  for (let at = environment.indexOf(marker); at >= 0; at = environment.indexOf(marker, at + 1)) {
    if (at === 0 || environment[at - 1] === 0) return true;
  }
  return false;
}

function worksIn(pid: number, root: string): boolean {
  const folder = quiet(() => readlinkSync(`/proc/${pid}/cwd`));
  return folder !== undefined && (folder === root || folder.startsWith(`${root}/`));
}

function send(pid: number, signal: NodeJS.Signals): void {
  quiet(() => process.kill(pid, signal));
}
