// Looks through /proc so that nothing escapes by starting a successor and ending. Linux only.
import { readdirSync, readFileSync } from "node:fs";

/**
 * Gives what is wanted of the processes numbered from `first` on, parents before children. `known`: what was
 * found before, whose children are wanted too.
 */
export type FindProcesses = (first: number, known?: ReadonlySet<number>) => number[];

/** So many numbers are asked for one by one; that takes less time than to list all of /proc. */
const asked = 512;
const newest = 2;
const maxWindows = 2000;

/**
 * Hands everything that `find` gives to `meet`, and then, again and again, what was started meanwhile, until a
 * look ends before anything is started. Gives whether it came to that, so that nothing can have escaped: whoever
 * was gone when it was looked at has started its successor before, and that has a greater number. `from`: the
 * least number that any of them can have, if that is known.
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
    look(0); // a process that is being started is not listed before its parent has ended
  }
  for (let window = 0; window < maxWindows; window++) {
    const last = lastPid();
    const near = isNear(next);
    if (last - next > newest) look(last - newest); // alive as a rule, which others are not by the time of their turn
    look(next);
    if (lastPid() === last && near) return true;
    next = last + 1;
  }
  return false;
}

/** Numbers of processes from `first` on, in ascending order; some of them may be nobody's. */
export function candidates(first: number): number[] {
  const last = lastPid();
  if (isNear(first)) return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const lowest = first <= last ? first : 0; // less than the first: the count began anew
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid >= lowest)
    .sort((a, b) => a - b);
}

/** `next`, the number after the last, is near too: then there is nothing to look at. */
function isNear(first: number): boolean {
  const distance = lastPid() - first;
  return first > 0 && distance >= -1 && distance < asked;
}

/** The number that was given to a process last. */
function lastPid(): number {
  return Number(quiet(() => readFileSync("/proc/loadavg", "latin1"))?.split(" ")[4] ?? 0);
}

/** Whether a process whose first thread has ended goes on in others. */
export function otherThreads(pid: number): boolean {
  return threadsOf(pid).some((state) => !"ZXx".includes(state));
}

/** The states of its threads, a letter each. */
export function threadsOf(pid: number): string[] {
  const threads = quiet(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  return threads.map((thread) => fieldsOf(`/proc/${pid}/task/${thread}/stat`)?.[0] ?? "X");
}

/** The fields of a stat file from the state on. The program's own name before it may hold anything, brackets too. */
export function fieldsOf(file: string): string[] | undefined {
  const text = quiet(() => readFileSync(file, "latin1"));
  return text?.slice(text.lastIndexOf(")") + 2).split(" ");
}

/** A process may end, or be another user's, at any look. */
export function quiet<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
