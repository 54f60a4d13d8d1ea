// Reads /proc so that no process escapes by starting a successor and ending. Linux only.
import { readdirSync, readFileSync } from "node:fs";

/**
 * Returns the wanted processes with pids from `first` on, parents before children. `known`: processes found
 * before, whose children are wanted too.
 */
export type FindProcesses = (first: number, known?: ReadonlySet<number>) => number[];

/** Up to this many pids are probed one by one, which is faster than listing /proc. */
const asked = 512;
const newest = 2;
const maxWindows = 2000;

/**
 * Passes everything that `find` returns to `meet`, then repeatedly the processes that were started meanwhile,
 * until a pass ends before anything is started. Returns whether that happened, so that nothing can have escaped: a
 * process that had ended when it was looked at had started its successor before, which has a greater pid. `from`:
 * the smallest possible pid, if known.
 */
export function followProcesses(find: FindProcesses, meet: (pids: number[]) => void, from = 0): boolean {
  const met = new Set<number>();
  const look = (first: number) => {
    const found = find(first, met);
    for (const pid of found) met.add(pid);
    meet(found);
  };
  let next = from;
  if (!isNear(from)) {
    next = lastPid() + 1;
    look(0);
    look(0); // a process that is being started may be listed only after its parent has ended
  }
  for (let window = 0; window < maxWindows; window++) {
    const last = lastPid();
    const near = isNear(next);
    if (last - next > newest) look(last - newest); // usually alive; others may have ended before their turn
    look(next);
    if (lastPid() === last && near) return true;
    next = last + 1;
  }
  return false;
}

/** Pids from `first` on, in ascending order; some may be unused. */
export function candidates(first: number): number[] {
  const last = lastPid();
  if (isNear(first)) return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const lowest = first <= last ? first : 0; // less than the first: the counter wrapped around
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid >= lowest)
    .sort((a, b) => a - b);
}

/** Also true for the pid after the last one: then there is nothing to probe. */
function isNear(first: number): boolean {
  const distance = lastPid() - first;
  return first > 0 && distance >= -1 && distance < asked;
}

/** The last pid that was assigned. */
function lastPid(): number {
  return Number(textOf("/proc/loadavg").split(" ")[4] ?? 0);
}

/** Whether a process whose first thread has ended runs on in others. */
export function otherThreads(pid: number): boolean {
  return threadsOf(pid).some((state) => !"ZXx".includes(state));
}

/** The states of a process' threads, a letter each. */
export function threadsOf(pid: number): string[] {
  const threads = quiet(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  return threads.map((thread) => fieldsOf(`/proc/${pid}/task/${thread}/stat`)?.[0] ?? "X");
}

/** Of a file of /proc or of the kernel's groups, or of a small one in ASCII; empty if it is not there. */
export function textOf(file: string): string {
  return quiet(() => readFileSync(file, "latin1")) ?? "";
}

/** The fields of a stat file from the state on. The program's name before it may hold anything, also brackets. */
export function fieldsOf(file: string): string[] | undefined {
  const text = quiet(() => readFileSync(file, "latin1"));
  return text?.slice(text.lastIndexOf(")") + 2).split(" ");
}

/** Undefined on an error: at any time a process may end, or belong to another user; some kernels lack a file. */
export function quiet<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
