// Ends everything that a sandbox started, also what moved to a session of its own. On Linux a process
// is known by the token in its environment, by a parent that is known, or by working inside the
// sandbox's folder; all are stopped before any is killed, so that none can spawn meanwhile.
// A program that cleans its environment, leaves the folder and outlives its parent escapes: a plain
// sandbox is for trusted programs, the others have a pid namespace.
// Elsewhere there is no /proc, and only process groups are ended.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { uptime } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { lastPid, otherThreads } from "./freeze-processes.ts";

export type Known = {
  token: string;
  root: string;
  groups: number[];
  /** Clock ticks since boot before which none of them was started, as `ticksNow` gives them. */
  since?: number;
  /** The pid of the first of them: the system counts upwards, so the others have greater ones. */
  first?: number;
};

/** Now, in the clock ticks since boot that processes' start times are told in; 0 where there is no /proc. */
export function ticksNow(): number {
  return process.platform === "linux" ? Math.floor(uptime() * 100) - 1 : 0;
}

/** Stops (SIGSTOP) everything known until a look finds nothing new; gives the pids. */
export async function stopProcesses(known: Known): Promise<number[]> {
  const stopped = new Set<number>();
  for (let round = 0; round < 100; round++) {
    const fresh = findProcesses(known).filter((pid) => !stopped.has(pid));
    if (fresh.length === 0) return [...stopped];
    for (const pid of fresh) {
      send(pid, "SIGSTOP");
      stopped.add(pid);
    }
    await sleep(round < 10 ? 1 : 20);
  }
  return [...stopped];
}

/** Kills everything known. Throws when something still runs after ten seconds: then no copy can be trusted to stand still. */
export async function endProcesses(known: Known): Promise<void> {
  if (process.platform !== "linux") {
    for (const group of known.groups) send(-group, "SIGKILL");
    return;
  }
  let left: number[] = [];
  for (let round = 0; round < 200; round++) {
    left = await stopProcesses(known);
    if (left.length === 0) {
      known.groups.length = 0; // the system may give their numbers to strangers from now on
      return;
    }
    for (const pid of left) send(pid, "SIGKILL");
    await sleep(Math.min(5 + round * 5, 100));
  }
  throw new Error(
    `processes of the sandbox would not end: ${left.join(", ")}; end them by hand and run again`,
  );
}

/** What everything known holds in memory, in bytes, shared pages counted once; 0 where there is no /proc. */
export function memoryHeld(known: Known): number {
  let total = 0;
  for (const pid of findProcesses(known)) {
    const text = quiet(() => readFileSync(`/proc/${pid}/smaps_rollup`, "latin1"));
    total += Number(/^Pss:\s+(\d+) kB/m.exec(text ?? "")?.[1] ?? 0) * 1024;
  }
  return total;
}

/** Living processes of the sandbox, never this one. */
export function findProcesses({ token, root, groups, since = 0, first = 0 }: Known): number[] {
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
  // children of the found, and theirs
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const [pid, parent] of parents) if (found.has(parent)) found.add(pid);
  }
  return [...found];
}

/** Pids from `first` on; a stage that was short has few after it, and asking for each is less than listing all. */
export function candidates(first: number): number[] {
  const last = lastPid();
  if (first > 0 && first <= last && last - first < 64)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const lowest = first <= last ? first : 0; // less than the first: the count began anew
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid >= lowest);
}

function statusOf(
  pid: number,
): { parent: number; group: number; started: number; dead: boolean } | undefined {
  const text = quiet(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
  // the program's own name stands in brackets and may hold anything, brackets too
  const fields = text?.slice(text.lastIndexOf(")") + 2).split(" ");
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

/** A process may end, or be another user's, at any look. */
function quiet<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
